"""A certificate, from the start alone, that gradient descent reaches zero loss from random weights with W_2⁽⁰⁾ = 0.

``start.measure`` takes the start's numbers, ``certify.certify`` marches the comparison system of ``slopes`` until the area under the
guaranteed rate has paid for the distance, ``closed`` is the closed form, ``width`` the smallest width, ``watch`` holds a run against the bounds.
"""
