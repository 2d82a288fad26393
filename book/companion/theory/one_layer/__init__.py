"""One layer of attention with switches, and what each of four theories says of a run of it before its first step."""
