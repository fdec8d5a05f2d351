import {createHash} from 'node:crypto';
import type {Medians} from './compute-timeline.js';
import type {Timeline} from './phase.js';
import {BARS_WIDTH, formatSvg, MIN_BAR_WIDTH, PICTURE_WIDTH, TITLE_WIDTH} from './timeline-svg.js';

const PAGE_STYLE =
  ':root{color-scheme:light dark}body{margin:0;background:light-dark(#fff,#16181d);color:light-dark(#1b1f24,#e6e6e6);' +
  'font:14px system-ui,sans-serif}p{margin:8px 12px}svg{display:block;max-width:100%;height:auto}' +
  '.e{user-select:none}.h{cursor:grab}.p:hover rect{filter:brightness(1.2)}.p:hover text{font-weight:bold}';

/**
 * Zooms each episode: the wheel around a pointer on its bars (elsewhere, and if all is shown, it scrolls the page), dragging, and the
 * keys + - 0 and the arrows. It only sets attributes of the picture, from the numbers in them.
 */
const SCRIPT = `'use strict';
const LEFT = ${TITLE_WIDTH}, WIDTH = ${BARS_WIDTH};
const episodes = [...document.querySelectorAll('.e')].map((element) => {
  const whole = Number(element.dataset.length);
  return {element, whole, from: 0, length: whole};
});
function draw(episode) {
  const {element, from, length} = episode;
  const x = (ms) => LEFT + Math.min(1, Math.max(0, (ms - from) / length)) * WIDTH;
  for (const phase of element.querySelectorAll('.p')) {
    const start = Number(phase.dataset.from), end = Number(phase.dataset.until);
    const bar = phase.querySelector('rect');
    const isShown = end >= from && start <= from + length;
    bar.setAttribute('x', x(start));
    bar.setAttribute('width', isShown ? Math.max(${MIN_BAR_WIDTH}, x(end) - x(start)) : 0);
  }
  for (const tick of element.querySelectorAll('.k'))
    tick.style.display = length === episode.whole ? '' : 'none';
}
function show(episode, from, length) {
  episode.length = Math.min(episode.whole, Math.max(episode.whole / 10000, length));
  episode.from = Math.min(episode.whole - episode.length, Math.max(0, from));
  draw(episode);
}
function zoom(episode, factor, part) {
  const length = Math.min(episode.whole, episode.length * factor);
  show(episode, episode.from + (episode.length - length) * part, length);
}
for (const episode of episodes) {
  const {element} = episode;
  const scale = () => ${PICTURE_WIDTH} / element.ownerSVGElement.getBoundingClientRect().width;
  const partAt = (event) => {
    const left = element.ownerSVGElement.getBoundingClientRect().left;
    return ((event.clientX - left) * scale() - LEFT) / WIDTH;
  };
  element.addEventListener('wheel', (event) => {
    const part = partAt(event), isOut = event.deltaY > 0;
    if (part < 0 || part > 1 || (isOut && episode.length === episode.whole)) return;
    event.preventDefault();
    zoom(episode, isOut ? 1.25 : 0.8, part);
  }, {passive: false});
  element.addEventListener('pointermove', (event) => {
    if (event.buttons !== 1) return;
    show(episode, episode.from - ((event.movementX * scale()) / WIDTH) * episode.length, episode.length);
  });
  element.addEventListener('dblclick', () => show(episode, 0, episode.whole));
}
document.addEventListener('keydown', (event) => {
  const act = {
    '+': (each) => zoom(each, 0.8, 0.5),
    '-': (each) => zoom(each, 1.25, 0.5),
    '0': (each) => show(each, 0, each.whole),
    ArrowLeft: (each) => show(each, each.from - each.length / 10, each.length),
    ArrowRight: (each) => show(each, each.from + each.length / 10, each.length),
  }[event.key];
  if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  episodes.forEach(act);
});
`;

/** Returns timelines as a page in one file, which loads nothing and runs only its own script. Names are escaped. Pure. */
export function formatHtml(timelines: readonly Timeline[], medians: Medians): string {
  const digest = createHash('sha256').update(SCRIPT).digest('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<title>kcri timeline</title>',
    `<style>${PAGE_STYLE}</style>`,
    '</head>',
    '<body>',
    '<p>Zoom with the wheel on the bars or + and -, drag or use the arrow keys to move, 0 or a double click shows all. ' +
      'Point at a phase for details; a pale bar is inferred.</p>',
    `${formatSvg(timelines, medians)}<script>${SCRIPT}</script>`,
    '</body>',
    '</html>\n',
  ].join('\n');
}
