"""A study's pages: what participants see, served by Starlette and drawn by Jinja2."""
