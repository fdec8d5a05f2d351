// Renders line charts side by side as an SVG for light and dark backgrounds.

const PANEL = {width: 260, height: 230, left: 46, right: 14, top: 58, bottom: 40};
const TICKS = 5;
const STYLE = `
    text {font: 11px system-ui, sans-serif; fill: #3b4252}
    .heading {font-size: 13px; font-weight: 600}
    .title {font-weight: 600}
    .grid {stroke: #c9ced6; stroke-width: 0.6}
    .axis {stroke: #6b7280; stroke-width: 1}
    .line {stroke: #2563eb; stroke-width: 2; fill: none}
    .point {fill: #2563eb}
    @media (prefers-color-scheme: dark) {
      text {fill: #d6dae2}
      .grid {stroke: #454c59}
      .axis {stroke: #9aa3b2}
      .line {stroke: #7aa7ff}
      .point {fill: #7aa7ff}
    }
  `;

/** Renders charts `{title, unit, points: {x, y}[]}` with a common heading and x axis label. */
export function lineCharts(heading, xLabel, charts) {
  const width = PANEL.width * charts.length;
  const panels = charts.map((chart, index) => panel(chart, xLabel, index * PANEL.width));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${PANEL.height}" width="${width}" height="${PANEL.height}" role="img" aria-label="${heading}">`,
    `  <style>${STYLE}</style>`,
    `  ${label(PANEL.left, 18, heading, 'class="heading"')}`,
    ...panels.flat().map((line) => `  ${line}`),
    '</svg>\n',
  ].join('\n');
}

function panel({title, unit, points}, xLabel, offset) {
  const xTicks = ticksTo(Math.max(...points.map(({x}) => x)));
  const yTicks = ticksTo(Math.max(...points.map(({y}) => y)));
  const [left, right] = [offset + PANEL.left, offset + PANEL.width - PANEL.right];
  const [top, bottom] = [PANEL.top, PANEL.height - PANEL.bottom];
  const xAt = (x) => (left + ((right - left) * x) / xTicks.at(-1)).toFixed(1);
  const yAt = (y) => (bottom - ((bottom - top) * y) / yTicks.at(-1)).toFixed(1);
  const positions = points.map(({x, y}) => [xAt(x), yAt(y)]);
  return [
    label(left, PANEL.top - 20, title, 'class="title"'),
    label(left, PANEL.top - 7, unit),
    ...yTicks.flatMap((y) => [
      `<line class="grid" x1="${left}" x2="${right}" y1="${yAt(y)}" y2="${yAt(y)}"/>`,
      label(left - 6, Number(yAt(y)) + 4, y, 'text-anchor="end"'),
    ]),
    ...xTicks.map((x) => label(xAt(x), bottom + 15, x, 'text-anchor="middle"')),
    label((left + right) / 2, bottom + 31, xLabel, 'text-anchor="middle"'),
    `<path class="axis" d="M${left} ${top}V${bottom}H${right}" fill="none"/>`,
    `<polyline class="line" points="${positions.map((position) => position.join(',')).join(' ')}"/>`,
    ...positions.map(([x, y]) => `<circle class="point" cx="${x}" cy="${y}" r="3"/>`),
  ];
}

function label(x, y, text, attributes = '') {
  return `<text x="${x}" y="${y}"${attributes && ` ${attributes}`}>${text}</text>`;
}

/** Returns about five round numbers from 0 to at least `most`. */
function ticksTo(max) {
  const rough = max / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const count = Math.ceil(max / step - 0.001);
  return Array.from({length: count + 1}, (_, index) => Number((index * step).toPrecision(6)));
}
