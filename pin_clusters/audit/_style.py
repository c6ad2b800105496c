"""The look of the page."""

CSS = """
:root{color-scheme:light dark;--bg:#fff;--card:#f5f6f8;--line:#d5d9df;
--ink:#16181d;--soft:#555d68;--grid:#dfe2e7;--paper:#fff;
--none:#c27f00;--block:#d55e00;--diagonal:#0072b2;--green:#00875f;--wine:#882255;--sky:#2a8fc7;--rose:#b0568a;
--yellow:#8a7d00;--grey:#7a828c;--yes:#00694a;--no:#b23c00;--yesbg:#e4f5ee;--nobg:#fdeee4}
@media (prefers-color-scheme:dark){:root{--bg:#14161a;--card:#1d2026;--line:#353a43;
--ink:#eceef1;--soft:#a9b0ba;--grid:#343942;--paper:#14161a;
--none:#e8a822;--block:#ff8a3d;--diagonal:#5ab6f0;--green:#2fc796;--wine:#e07fb4;--sky:#8fd0f7;--rose:#e59cc4;
--yellow:#d8cc3a;--grey:#9aa2ad;--yes:#4fd3a4;--no:#ff9a5c;--yesbg:#11302690;--nobg:#3a1f0f90}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif}
main,header,footer{max-width:60rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
h1{font-size:1.55rem;line-height:1.25;margin:0 0 .8rem}
h2{font-size:1.2rem;margin:2.4rem 0 .5rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.4rem 0 .3rem}
p,li{max-width:46rem}
ul,ol{padding-left:1.3rem}
.verdict{border-left:.4rem solid var(--no);background:var(--nobg);padding:.8rem 1rem;border-radius:.4rem}
.verdict.yes{border-color:var(--yes);background:var(--yesbg)}
.verdict p{margin:.3rem 0;max-width:none}
.verdict .answer{font-weight:700;font-size:1.25rem;color:var(--no);margin:0}
.verdict.yes .answer{color:var(--yes)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem;margin:1rem 0;padding:0;
list-style:none}
.cards li{background:var(--card);border-radius:.4rem;padding:.6rem .8rem;max-width:none}
.cards b{display:block;font-size:1.35rem;line-height:1.25;font-variant-numeric:tabular-nums}
.cards li{overflow-wrap:anywhere}
.cards span{font-size:.85rem;color:var(--soft);display:block;line-height:1.35}
.plots dl{display:block}.plots dd{margin:0 0 .5rem}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,23rem),1fr));gap:1rem;align-items:start}
figure{margin:.6rem 0;min-width:0}
figcaption{font-size:.9rem;color:var(--soft);max-width:46rem}
svg{display:block;width:100%;height:auto;stroke-linejoin:round;stroke-linecap:butt;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
svg text{fill:var(--ink)}
.scroll{overflow-x:auto;margin:.8rem 0;border:1px solid var(--line);border-radius:.4rem}
.scroll:focus-visible{outline:2px solid var(--diagonal)}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.5rem .7rem;color:var(--soft);font-size:.85rem;line-height:1.4}
caption span{display:inline-block;position:sticky;left:.7rem;max-width:calc(100vw - 3.8rem)}
th,td{padding:.3rem .7rem;text-align:right;white-space:nowrap;border-top:1px solid var(--line)}
th:first-child{text-align:left;font-weight:600;position:sticky;left:0;background:var(--bg)}
thead th{color:var(--soft);font-weight:600;white-space:normal;vertical-align:bottom;min-width:3.6rem}
thead th.group{text-align:left;white-space:nowrap;border-left:1px solid var(--line)}
.over{color:var(--no);font-weight:700}
pre{background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:.7rem .8rem;overflow:auto;
max-height:26rem;font-size:.82rem;line-height:1.45;margin:.5rem 0}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}
pre code{font-size:1em}
details{margin:.6rem 0}
summary{cursor:pointer;color:var(--diagonal)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;max-width:52rem}
dt{font-weight:600}dd{margin:0;min-width:0;overflow-wrap:anywhere}
@media (max-width:34rem){dl{display:block}dd{margin:0 0 .5rem}h1{font-size:1.35rem}}
footer{color:var(--soft);font-size:.85rem;padding-top:1.5rem;padding-bottom:2rem}
@media print{.scroll,pre{overflow:visible;max-height:none}pre{white-space:pre-wrap}}
"""
