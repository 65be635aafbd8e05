// What is scrolled sideways on a narrow screen can be scrolled by keys: browsers need not give it the focus by themselves.
"use strict";
{
  const wide = ".md-typeset__scrollwrap, .md-typeset p, .md-typeset pre > code, .md-typeset .numbers";
  const mark = () => {
    for (const one of document.querySelectorAll(wide)) {
      if (one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX !== "visible") one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
  };
  for (const when of ["load", "resize"]) addEventListener(when, mark);
  document.addEventListener("toggle", mark, true);  // Parts that are unfolded.
}
