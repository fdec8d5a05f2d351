import UPlot from 'uplot';
import {usageRange} from '../model/usage-range.js';

/** Data of a chart: times in ms, and a value for each. */
export interface ChartData {
  readonly timesMs: readonly number[];
  readonly values: readonly (number | null)[];
}

/** Chart of a value over time. */
export interface Chart {
  readonly setData: (data: ChartData) => void;
  /** Draws again, in the colors that the page has now. */
  readonly redraw: () => void;
  readonly remove: () => void;
}

/** What a chart needs. */
export interface ChartOptions {
  /** Height in pixels. */
  readonly height: number;
  readonly format: (value: number) => string;
  readonly formatTime: (timeMs: number) => string;
  readonly data: ChartData;
  /** Is called with the index of the sample under the pointer; undefined when it leaves. */
  readonly onHover: (index: number | undefined) => void;
}

/** Adds a chart to an element. It has the width of the element. */
export function createChart(
  element: HTMLElement,
  {height, format, formatTime, data, onHover}: ChartOptions,
): Chart {
  const color = (name: string) => (): string => getComputedStyle(element).getPropertyValue(name);
  const axis: UPlot.Axis = {
    stroke: color('--muted'),
    grid: {stroke: color('--border'), width: 1},
    ticks: {show: false},
    font: '11px system-ui, sans-serif',
  };
  const chart = new UPlot(
    {
      width: element.clientWidth,
      height,
      legend: {show: false},
      padding: [8, 40, 0, 0],
      hooks: {setCursor: [({cursor}) => onHover(cursor.idx ?? undefined)]},
      cursor: {drag: {setScale: false}, points: {size: 6}},
      scales: {y: {range: (_, _low, high) => usageRange(high)}},
      axes: [
        {
          ...axis,
          size: 26,
          space: 90,
          values: (_, seconds) => seconds.map((time) => formatTime(time * 1000)),
        },
        {...axis, size: 62, space: 32, values: (_, values) => values.map(format)},
      ],
      series: [
        {},
        {stroke: color('--accent'), fill: color('--accent-fill'), width: 1.5, points: {show: false}},
      ],
    },
    aligned(data),
    element,
  );
  const resized = new ResizeObserver(() => chart.setSize({width: element.clientWidth, height}));
  resized.observe(element);
  return {
    setData: (next) => chart.setData(aligned(next)),
    redraw: () => chart.redraw(),
    remove: () => {
      resized.disconnect();
      chart.destroy();
    },
  };
}

function aligned({timesMs, values}: ChartData): UPlot.AlignedData {
  return [timesMs.map((time) => time / 1000), [...values]];
}
