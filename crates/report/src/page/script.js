(function () {
  "use strict";
  function key(cell) {
    var given = cell.getAttribute("data-v");
    return given === null ? cell.textContent.trim().toLowerCase() : given === "" ? -Infinity : Number(given);
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    var heads = table.querySelectorAll("thead th"), body = table.tBodies[0];
    heads.forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      while (head.firstChild) button.appendChild(head.firstChild);
      head.appendChild(button);
      button.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") !== "descending" && (head.className === "n" || head.getAttribute("aria-sort") === "ascending");
        heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        Array.from(body.rows).map(function (row, n) { return { row: row, n: n, key: key(row.cells[column]) }; })
          .sort(function (a, b) {
            var order = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
            return (down ? -order : order) || a.n - b.n;
          })
          .forEach(function (entry) { body.appendChild(entry.row); });
      });
    });
  });
  document.querySelectorAll("figure").forEach(function (figure) {
    var shapes = figure.querySelectorAll(".plot [stroke],.plot [fill]");
    figure.querySelectorAll(".legend li").forEach(function (entry) {
      var colour = entry.getAttribute("data-c");
      function show(on) {
        shapes.forEach(function (shape) {
          var of = [shape.getAttribute("stroke"), shape.getAttribute("fill")].filter(function (c) { return c && c !== "none"; });
          var series = of.some(function (c) { return figure.querySelector('.legend li[data-c="' + c + '"]'); });
          shape.style.opacity = on && series && of.indexOf(colour) < 0 ? 0.12 : "";
        });
      }
      entry.addEventListener("mouseenter", function () { show(true); });
      entry.addEventListener("mouseleave", function () { show(false); });
    });
  });
})();
