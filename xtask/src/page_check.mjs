// Opens pages in headless Chromium and prints what is wrong with each as one JSON line.
// node page_check.mjs FOLDER PAGE…, where FOLDER has node_modules and takes the screenshots.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...pages] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(folder, "package.json")));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
try {
  for (const path of pages) {
    const name = `${basename(dirname(path))}-${basename(path).replace(/\.html?$/, "")}`;
    for (const width of [1280, 390]) {
      for (const scheme of ["light", "dark"]) {
        console.log(JSON.stringify(await check(path, name, width, scheme)));
      }
    }
  }
} finally {
  await browser.close();
}

async function check(path, name, width, scheme) {
  const page = await browser.newPage();
  const url = pathToFileURL(path).href;
  const wrong = [];
  page.on("console", (message) => wrong.push(`console: ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`script: ${error.message}`));
  page.on("request", (request) => request.url() === url || wrong.push(`request: ${request.url()}`));
  await page.setViewport({ width, height: 900, isMobile: width < 500, deviceScaleFactor: 1 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const times = [];
  for (let n = 0; n < 5; n += 1) {
    await page.goto(url, { waitUntil: "load" });
    // The second frame after loading has been laid out and painted.
    times.push(await page.evaluate(() => new Promise((done) =>
      requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))));
  }
  const rendered = times.sort((a, b) => a - b)[2];
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (overflow > 0) wrong.push(`the page is ${overflow} px wider than the screen`);
  wrong.push(...await page.evaluate(faint));
  await page.screenshot({ path: join(folder, `${name}-${width}-${scheme}.png`), fullPage: true });
  // What is folded away is checked too. The tool of the debugger's world is not subject to the page's policy.
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run());
  for (const v of found.violations) {
    wrong.push(`axe-core: ${v.id} (${v.impact}), ${v.nodes.length} places: ${v.nodes[0].html.slice(0, 160)}`);
  }
  await page.close();
  return { name, width, scheme, rendered, rules: found.passes.length, wrong };
}

// Lines of plots that are hard to see: graphics need a contrast of 3 to 1 with what is behind them, which axe-core does not look at.
function faint() {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = luminance(getComputedStyle(document.body).backgroundColor);
  const colours = new Set([...document.querySelectorAll(".legend line")].map((l) => getComputedStyle(l).stroke));
  return [...colours].flatMap((colour) => {
    const [low, high] = [luminance(colour), ground].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    return contrast < 3 ? [`a line in ${colour} has a contrast of ${contrast.toFixed(2)}`] : [];
  });
}
