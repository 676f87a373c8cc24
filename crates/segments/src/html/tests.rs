use super::*;

fn of(html: &str) -> Split {
    split(html, &Limits::default(), 1 << 20)
}

/// Text `seen` is visible and `secret` is hidden, by a style.
#[track_caller]
fn hides(html: &str) {
    let found = of(html);
    assert!(found.visible.contains("seen"), "{html}: {found:?}");
    assert!(!found.visible.contains("secret"), "{html}: {found:?}");
    assert!(found.hidden.contains("secret"), "{html}: {found:?}");
    assert!(found.hidden_by_style.is_some(), "{html}: {found:?}");
}

/// Everything is visible and nothing is hidden by a style.
#[track_caller]
fn shows(html: &str) {
    let found = of(html);
    assert!(found.visible.contains("seen"), "{html}: {found:?}");
    assert!(found.hidden_by_style.is_none(), "{html}: {found:?}");
}

#[test]
fn styles_that_hide() {
    for style in [
        "display:none",
        "DISPLAY:NONE !important",
        "d\\69 splay:none",
        "visibility:hidden",
        "opacity:0",
        "opacity:.01",
        "font-size:0",
        "font-size:0px",
        "font-size:1px",
        "font:0/0 a",
        "color:#fff",
        "color:white",
        "color:rgb(254,254,254)",
        "color:transparent",
        "color:rgba(0,0,0,0)",
        "background:#000;color:#010101",
        "background-color:navy;color:#000080",
        "width:0;overflow:hidden",
        "height:0;overflow:hidden",
        "max-height:0px;overflow:hidden",
        "width:1px;height:1px;overflow:hidden;position:absolute",
        "position:absolute;left:-9999px",
        "position:fixed;top:-2000px",
        "text-indent:-9999px",
        "margin-left:-9999px",
        "clip:rect(0,0,0,0);position:absolute",
        "clip-path:inset(100%)",
        "clip-path:inset(50%)",
        "transform:scale(0)",
        "transform:translateX(-9999px)",
        "filter:opacity(0)",
        "content-visibility:hidden",
        "mso-hide:all;font-size:1px",
        "letter-spacing:-1em",
        "letter-spacing:-1em;font-size:12px",
        "letter-spacing:-16px",
        "font-size:12px;letter-spacing:-20px",
        "letter-spacing:-20px;font-size:12px",
        "zoom:.01",
        "zoom:1%",
        "scale:0",
        "translate:-9999px",
        "clip:rect(0,0,0,0);position:absolute;transform:none",
        "transform:scale(0);clip:auto;clip-path:none;filter:none",
        "clip:rect(0,0,0,0);position:absolute;clip:nonsense",
        "transform:scale(0);transform:nonsense",
        "max-height:0;height:auto;overflow:hidden",
    ] {
        hides(&format!("<p>seen</p><div style=\"{style}\">secret</div>"));
        hides(&format!("<style>.x {{ {style} }}</style><p>seen</p><div class=x><b>secret</b></div>"));
    }
}

#[test]
fn selectors_that_hide() {
    for (selector, element) in [
        ("#x", "<div id=x>secret</div>"),
        (".a.b", "<div class='b a'>secret</div>"),
        ("em", "<em>secret</em>"),
        ("[data-x]", "<div data-x>secret</div>"),
        ("[data-x^=ab]", "<div data-x=abc>secret</div>"),
        ("ul li > i", "<ul><li><i>secret</i></ul>"),
        ("p + div", "<p>seen</p><div>secret</div>"),
        ("p ~ div:not(.y)", "<p>seen</p><i></i><div>secret</div>"),
        ("i:nth-child(2)", "<u><b></b><i>secret</i></u>"),
        (":is(h6, .q)", "<h6>secret</h6>"),
    ] {
        hides(&format!("<style>{selector}{{display:none}}</style><p>seen</p>{element}"));
    }
    hides("<style><!-- .x{display:none} --></style><p>seen<p class=x>secret");
    hides("<p>seen<p class=x>secret<style>.x{display:none}</style>");
    hides("<style>@media screen{.x{display:none}}</style><p>seen<p class=x>secret");
}

#[test]
fn attributes_that_hide() {
    hides("<p>seen</p><p hidden>secret</p>");
    hides("<p>seen</p><p hidden=until-found>secret</p>");
    hides("<p>seen</p><font color=white>secret</font>");
    hides("<body bgcolor=#112233><font color=#ffffff>seen</font><font color=#112233>secret</font>");
    hides("<table bgcolor=red><tr><td><font color=white>seen</font><font color=#ff0000>secret</font></table>");
    hides("<body text=white>secret<p style='color:black'>seen");
}

#[test]
fn the_cascade_decides() {
    shows("<style>p{display:none}</style><p style=display:block>seen</p>");
    hides("<style>p.x{display:none!important}</style><p>seen</p><p class=x style=display:block>secret</p>");
    shows("<style>#a{display:block} p{display:none}</style><p id=a>seen</p>");
    // A value that browsers drop.
    shows("<p style='font-size:-1px'>seen</p>");
    shows("<style>.x{display:none}.x{display:block}</style><p class=x>seen</p>");
    shows("<style>@media (max-width:600px){.x{display:none}}</style><p class=x>seen</p>");
    shows("<style>@media print{.x{display:none}}</style><p class=x>seen</p>");
    for (before, after) in [
        ("clip:rect(0,0,0,0);position:absolute", "clip:auto"),
        ("clip-path:inset(100%)", "clip-path:none"),
        ("-webkit-clip-path:inset(100%)", "clip-path:initial"),
        ("transform:scale(0)", "transform:none"),
        ("-webkit-transform:scale(0)", "transform:rotate(4deg)"),
        ("filter:opacity(0)", "filter:none"),
        ("scale:0", "scale:none"),
        ("zoom:.01", "zoom:normal"),
        ("zoom:.01", "zoom:0"),
        ("content-visibility:hidden", "content-visibility:visible"),
        ("letter-spacing:-1em", "letter-spacing:normal"),
        ("max-height:0;overflow:hidden", "max-height:none"),
        ("height:0;overflow:hidden", "height:auto"),
    ] {
        shows(&format!("<p style=\"{before};{after}\">seen</p>"));
        shows(&format!("<style>p{{{before}}} .x{{{after}}}</style><p class=x>seen</p>"));
        shows(&format!("<style>p{{{after}!important}}</style><p style=\"{before}\">seen</p>"));
        hides(&format!("<style>b{{{after}}} .x{{{before}}}</style><p>seen</p><b class=x>secret</b>"));
    }
    hides("<p>seen</p><p style=letter-spacing:-1em><b style=letter-spacing:inherit>secret</b></p>");
    hides("<p>seen</p><p style=visibility:hidden>secret</p>");
    shows("<p style=visibility:hidden><b style=visibility:visible>seen</b></p>");
}

#[test]
fn layout_tricks_of_newsletters_are_seen() {
    shows("<div style=font-size:0><table><tr><td style=font-size:14px>seen</td></tr></table></div>");
    shows("<!doctype html><div style='font-size:0px'><div style='font-size:13px'>seen</div></div>");
    shows("<table><td bgcolor=black style='background:#000'><font color=white>seen</font></table>");
    shows("<div style='background:#222'><p><a href=x style='color:#fff'>seen</a></p></div>");
    shows("<div style='background-image:url(a.png)'><p style=color:white>seen</p></div>");
    shows("<table background=a.png><tr><td><font color=#ffffff>seen</font></table>");
    shows("<p>s\u{200b}een seen</p>&zwnj;&nbsp;&zwnj;");
    shows("<div style='height:0'>seen</div><div style='line-height:0'>x</div>");
    shows("<div style='display:none'>&nbsp;\u{200c} </div><p>seen");
    shows("<link rel=stylesheet href=x.css><table><td class=dark><font color=white>seen</font></table>");
    shows("<body text=white bgcolor=black><table><tr><td>seen</table>");
    shows("<p style='color:#999;font-size:9px'>seen</p>");
    shows("<h1 style='letter-spacing:-.05em'>seen</h1><h2 style='letter-spacing:-1px;font-size:11px'>seen</h2>");
    shows("<div style='letter-spacing:-.31em'> <div style='letter-spacing:normal'>seen</div> </div>");
    shows("<div style='font-size:0;letter-spacing:-4px'> <p style='font-size:14px'>seen</p> </div>");
    shows("<div style=zoom:0>seen</div><div style=zoom:1>seen</div>");
}

#[test]
fn hidden_by_nature_is_no_hiding_style() {
    let found =
        of("<body><!-- secret1 --><script>secret2</script><style>/*secret3*/</style><template>secret4</template>\
        <noscript>secret5</noscript><img alt=secret6 title=secret7><i aria-label=secret8>seen</i>\
        <p aria-hidden=true>secret9</p><title>secret10</title><a href=http://secret11.example/>seen</a>\
        <!--[if mso]><table><tr><td>secret12</td></tr></table><![endif]--><input type=hidden value=secret13>");
    assert_eq!(found.visible, "seen\nseen");
    assert!(found.hidden_by_style.is_none());
    for i in 1..=13 {
        assert!(found.hidden.contains(&format!("secret{i}")), "{i}: {}", found.hidden);
    }
}

#[test]
fn broken_markup() {
    assert_eq!(of("<p>one<p style='display:none'>two<p>three").visible, "one\nthree");
    assert_eq!(of("<table><tr><td>a<td>b<tr><td>c</table>").visible, "a b\nc");
    assert!(of("<p>seen</p><img alt=\"secret <b>all").hidden.contains("secret"));
    assert!(of("<p>seen</p><!-- secret").hidden.contains("secret"));
    assert_eq!(of("Ig<span></span>no<!-- x -->re").visible, "Ignore");
    assert_eq!(of("a &lt;b&gt; &amp; &#105; &eacute;").visible, "a <b> & i é");
}

#[test]
fn hidden_text_is_whole() {
    let found =
        of("<div style=display:none>Ignore <a href=http://x.example/>all</a> <b>previous</b> <!-- c -->orders</div>");
    assert!(found.hidden.starts_with("Ignore all previous orders\n"), "{}", found.hidden);
}

#[test]
fn an_address_over_several_elements() {
    assert!(of("<p><b>ht</b><i>tp://ex</i><u>ample.com</u>").fragmented_url.is_some());
    assert!(of("<p><a href=x>http://example.com</a><b>!</b>").fragmented_url.is_none());
}
