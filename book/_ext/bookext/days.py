"""The day of a page's last change, which git tells: asked again for every page, as a commit changes it and no page."""

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_sitemap import add_html_link


class Days:
    """What was known of the days before a build."""

    def forget(self, app: Sphinx, env: BuildEnvironment) -> None:
        """Handle Sphinx's ``env-updated``, before git is asked: it is only asked for what is not known."""
        self.before = env.git_last_updated
        env.git_last_updated = dict.fromkeys(self.before)

    def changed(self, app: Sphinx, env: BuildEnvironment) -> list[str]:
        """Handle Sphinx's ``env-updated``, after git was asked. Returns: pages that show another day than before, to be written again."""
        return [page for page, day in env.git_last_updated.items() if day != self.before[page]]


def list_every_page(app: Sphinx, exception: Exception | None) -> None:
    """Handle Sphinx's ``build-finished``: the site's map lists all pages, not only those that were written just now."""
    if not exception and app.builder.format == "html":
        while not app.sitemap_links.empty():
            app.sitemap_links.get()
        for page in sorted(app.env.found_docs):
            add_html_link(app, page, "", {}, None)
