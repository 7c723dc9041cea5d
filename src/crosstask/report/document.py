"""The frame of every report: one HTML document with its style, without scripts or network access, and pictures embedded in it."""

import base64
from html import escape
from pathlib import Path

_STYLE = """
:root{color-scheme:light}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a202c;background:#fff}
h1{line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid #e2e8f0}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid #edf2f7}th:first-child,td:first-child,td.words{text-align:left}
svg{width:100%;height:auto;display:block}.legend svg{display:inline-block;width:14px;height:14px;vertical-align:-2px;margin-left:.8rem}
.step{font-size:12px;fill:#1a202c}.axis{font-size:10px;fill:#4a5568}
.synthetic{background:#fefcbf;border:1px solid #d69e2e;padding:.5rem .8rem;border-radius:.4rem}
.best{font-weight:700}.named{white-space:nowrap}
.key{display:inline-block;width:.9rem;height:.9rem;margin:0 .3rem 0 .8rem;vertical-align:-1px}details{margin:.6rem 0}
summary{cursor:pointer}pre{background:#f7fafc;padding:.8rem;overflow:auto;font-size:.8rem}.wide{overflow-x:auto}img{max-width:100%}

.strip{display:flex;flex-wrap:wrap;gap:.6rem;margin:.4rem 0 1.4rem}
.strip figure{margin:0;padding:.4rem;border:3px solid;border-radius:.4rem;max-width:100%}
.strip .pair{display:flex;gap:.3rem}.strip .pair>div{font-size:.75rem;color:#4a5568}
.strip img{display:block;height:90px;max-width:100%;object-fit:cover}.strip figcaption{font-size:.85rem;max-width:19rem}
.strip .none{width:120px;height:90px;background:#edf2f7;display:flex;align-items:center;justify-content:center;text-align:center}
"""


def html_document(title: str, body: str) -> str:
    """The whole HTML document; `body` is HTML, `title` is text."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<title>{escape(title)}</title><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def embedded_image(path: Path, alt: str) -> str:
    """An HTML image with the bytes of an SVG or PNG file in it; `alt` is HTML."""
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f'<img alt="{alt}" src="data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}">'
