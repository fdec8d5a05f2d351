import {formatJson, type Json} from '../../format/json.js';
import type {CommandServices} from '../command/command-services.js';
import {formatListTable} from '../flags/list-flags.js';
import type {PodSelectionFlagValues} from '../flags/pod-selection-flags.js';
import {topColumns, topEventLines, topPods, topRows, type TopSample} from '../output/views/top-table.js';
import {formatSorted, type OutputFormat} from '../output/parse-output-format.js';
import {repeatSample, TerminalScreen} from '../output/watch-screen.js';
import {canFillScreen} from '../top/can-fill-screen.js';
import {TopSampler, withUsage, type PodSample, type TopSelection} from './top-sampler.js';

/** Output format of `top`. */
type TopForm = OutputFormat<'table' | 'json' | 'yaml'>;

/** Options of showTop. */
interface TopOptions extends TopSelection {
  readonly flags: PodSelectionFlagValues & {readonly 'no-headers'?: boolean};
  /** True if one sample is printed, rather than a screen redrawn until Ctrl-C. */
  readonly once: boolean;
  readonly form: TopForm;
}

/**
 * Shows pods with their usage and recent events. Resolves immediately, with errors reported, if all named pods are
 * missing.
 */
export async function showTop(services: CommandServices, options: TopOptions): Promise<void> {
  const {words, flags, once} = options;
  const sampler = new TopSampler(services);
  if (!(await sampler.matches(words, flags))) return;
  if (once || !canFillScreen(services)) {
    await showTable(services, sampler, options);
    return;
  }
  const {runTopScreen} = await import('../top/run-top-screen.js');
  await runTopScreen(services, sampler, options);
}

/** Prints one table, or redraws it until Ctrl-C. */
async function showTable(
  services: CommandServices,
  sampler: TopSampler,
  {words, flags, pauseMs, once, form}: TopOptions,
): Promise<void> {
  const {context, out, report} = services;
  const signal = AbortSignal.any([services.signal, out.stdout.closed]);
  const screen = once ? undefined : openScreen(services, flags['no-headers'] === true);
  const sample = async (): Promise<PodSample> => await sampler.sample(words, flags);
  let before: PodSample | undefined;
  try {
    for await (const next of repeatSample(sample, {clock: context.clock, pauseMs, signal})) {
      const top = withUsage(before, next);
      screen?.show(top);
      // CPU usage requires two samples.
      if (screen === undefined && before !== undefined) {
        if (form.kind === 'table') out.printText(textOf(services, top, flags['no-headers'] === true));
        else out.printData(await documentOf(form, top));
        return;
      }
      before = next;
      await out.stdout.ready(signal);
    }
  } catch (error) {
    // Ctrl-C ends a watch normally.
    if (once || !signal.aborted) throw error;
  } finally {
    screen?.end();
    report.redirectWarnings(undefined);
  }
}

/** Opens a screen that also shows warnings, which would garble it elsewhere. */
function openScreen(services: CommandServices, bare: boolean): {show(sample: TopSample): void; end(): void} {
  const {context, out, report} = services;
  const warnings: string[] = [];
  report.redirectWarnings((text) => {
    warnings.push(text);
  });
  const screen = new TerminalScreen(out.stdout, context.clock);
  return {
    show: (sample) => {
      screen.show({text: textOf(services, sample, bare), warnings});
    },
    end: () => {
      screen.end();
    },
  };
}

function textOf({out}: CommandServices, sample: TopSample, bare: boolean): string {
  const pods = topPods(sample);
  const table = formatListTable(topColumns(pods), topRows(pods), {
    'no-headers': bare,
    narrow: true,
    forTerminal: out.shouldEscapeControls,
  }).toString();
  const events = topEventLines(sample.events, sample.nowMs);
  return events.length === 0 ? table : `${table}\n${events.join('\n')}\n`;
}

/** Formats a sample; of rows, each pod is one. */
async function documentOf(form: Exclude<TopForm, {kind: 'table'}>, sample: TopSample): Promise<string> {
  const {pods, events} = JSON.parse(JSON.stringify({pods: topPods(sample), events: sample.events})) as Record<
    'pods' | 'events',
    readonly Json[]
  >;
  if (form.kind === 'rows') return form.render(pods);
  return form.kind === 'json' ? `${formatJson({pods, events})}\n` : await formatSorted(form, {pods, events});
}
