import type {JSX} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import type {Chart, ChartData, ChartOptions} from '../chunks/chart.js';
import {nameText, percentText, sizeText, timeText} from '../model/format.js';
import {usePage} from './page-context.js';

/** Charts of the CPU and memory usage of a node, pod or container. */
export function UsageCharts({
  usageKey,
  name,
  cpuUnit = '% of one core',
}: {
  readonly usageKey: string;
  readonly name: string;
  readonly cpuUnit?: string;
}): JSX.Element {
  const {history} = usePage();
  const {timesMs = [], cpuPercent = [], memoryBytes = []} = history.of(usageKey) ?? {};
  return (
    <div class="charts">
      <UsageChart
        title="CPU"
        unit={cpuUnit}
        name={name}
        format={percentText}
        timesMs={timesMs}
        values={cpuPercent}
      />
      <UsageChart
        title="Memory"
        unit=""
        name={name}
        format={sizeText}
        timesMs={timesMs}
        values={memoryBytes}
      />
    </div>
  );
}

const HEIGHT = 150;

function UsageChart({
  title,
  unit,
  name,
  format,
  timesMs,
  values,
}: ChartData & {
  readonly title: string;
  readonly unit: string;
  readonly name: string;
  readonly format: (value: number) => string;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const data = useRef<ChartData>({timesMs, values});
  data.current = {timesMs, values};
  const [hovered, setHovered] = useState<number>();
  const chart = useChart(box, data, {format, onHover: setHovered});
  const length = values.length;
  const lastMs = timesMs.at(-1);
  useEffect(() => chart.current?.setData(data.current), [length, lastMs]);
  const summary = summaryOf(values, format);
  const [hoveredMs, value] = hovered === undefined ? [] : [timesMs[hovered], values[hovered]];
  return (
    <section class="card" aria-label={title}>
      <h2>
        {title} <span class="muted">{unit}</span>
      </h2>
      <p class="summary">
        {hoveredMs === undefined ? summary : `${timeText(hoveredMs)}: ${valueText(value, format)}`}
      </p>
      <div ref={box} class="chart" role="img" aria-label={`${title} of ${nameText(name)}: ${summary}`} />
    </section>
  );
}

function summaryOf(values: readonly (number | null)[], format: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return 'no measurements';
  const highest = known.reduce((a, b) => Math.max(a, b));
  return `now ${valueText(values.at(-1), format)}, highest ${format(highest)}`;
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? 'unknown' : format(value);
}

/** Returns the chart in a box, once its code is loaded. */
function useChart(
  box: {readonly current: HTMLElement | null},
  data: {readonly current: ChartData},
  options: Pick<ChartOptions, 'format' | 'onHover'>,
): {readonly current: Chart | undefined} {
  const chart = useRef<Chart>();
  useEffect(() => {
    const controller = new AbortController();
    void import('../chunks/chart.js').then(({createChart}) => {
      if (controller.signal.aborted || box.current === null) return;
      chart.current = createChart(box.current, {
        ...options,
        height: HEIGHT,
        formatTime: timeText,
        data: data.current,
      });
    });
    const redraw = (): void => chart.current?.redraw();
    const themed = new MutationObserver(redraw);
    themed.observe(document.documentElement, {attributeFilter: ['data-theme']});
    return () => {
      controller.abort();
      themed.disconnect();
      chart.current?.remove();
      chart.current = undefined;
    };
  }, []);
  return chart;
}
