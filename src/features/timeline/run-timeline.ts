import type {CommandContext} from '../../cli/command/contexts.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import type {OutputFlagValues, OutputFormat} from '../../cli/output/output-format.js';
import {counted} from '../../base/counted.js';
import {EmptyValueError, UsageError, type KcriError} from '../../base/errors.js';
import {readUndamaged} from '../../recording/lines/read-recording.js';
import {PodReader} from '../pods/pod-reader.js';
import type {PodSelectionFlagValues} from '../pods/pod-selection-flags.js';
import {readDeletedFacts} from './collect-facts.js';
import {computeMedians} from './compute-timeline.js';
import type {PodFacts} from './pod-facts.js';
import {COMPARED_PODS, computeTimelines, type Timelines} from './pod-timelines.js';
import {recordingTimelines} from './recording-timelines.js';
import {timelineJson, timelineTable} from './timeline-output.js';
import type {TimelineFileFlags} from './write-timelines.js';

/** Formats of `timeline`. */
export const TIMELINE_FORMATS = ['table', 'json', 'yaml'] as const;

/** Output format of timelines: a waterfall unless flags ask for another one. */
type Form = OutputFormat<(typeof TIMELINE_FORMATS)[number]> | {readonly kind: 'waterfall'};

/** Flags of `timeline`. */
export interface TimelineFlags extends PodSelectionFlagValues, OutputFlagValues, TimelineFileFlags {
  readonly from?: readonly string[] | undefined;
}

/** Prints the lives of pods, or of the pods of a recording. Rejects with KcriError. */
export async function runTimeline(
  services: CommandContext,
  words: readonly string[],
  flags: TimelineFlags,
): Promise<void> {
  const form = await parseForm(services, flags);
  const hasStdoutFile = writesFileToStdout(flags);
  if (words.includes('')) throw new EmptyValueError('the name of a pod or file');
  const [first = ''] = words;
  const found = isRecordingPath(first)
    ? await readRecordingTimelines(services, words, flags)
    : await readPodTimelines(services, words, flags);
  if (found === undefined) return;
  if ([flags.trace, flags.svg, flags.html].some((path) => path !== undefined)) {
    const {writeTimelines} = await import('./write-timelines.js');
    await writeTimelines(services, flags, found);
  }
  const recording = isRecordingPath(first) ? first : undefined;
  if (hasStdoutFile) reportIfNone(services, found, recording);
  else await printTimelines(services, found, {form, header: flags['no-headers'] !== true, recording});
}

/** Reports whether a file is standard output, `-`. Throws UsageError if something else would be written there, too. */
function writesFileToStdout({trace, svg, html, output, template, format, ...flags}: TimelineFlags): boolean {
  const piped = Object.entries({trace, svg, html}).filter(([, path]) => path === '-');
  const texts = Object.entries({output, template, format, 'no-headers': flags['no-headers']});
  const shown = ([name, value]: readonly [string, unknown]): string =>
    value === '-' ? `--${name}=-` : `--${name}`;
  const [first, second] = [...piped, ...texts.filter(([, value]) => (value ?? false) !== false)];
  if (first === undefined || piped.length === 0) return false;
  if (second !== undefined)
    throw new UsageError(`${shown(first)} and ${shown(second)} would both write to standard output`, {
      hint: 'name a file',
    });
  return true;
}

async function parseForm(services: CommandContext, flags: TimelineFlags): Promise<Form> {
  const isDefault = [flags.output, flags.template, flags.format].every((value) => value === undefined);
  // Without headers, rows are read by a script.
  if (isDefault && flags['no-headers'] !== true) return {kind: 'waterfall'};
  return await parseOutputFormat(flags, TIMELINE_FORMATS, services);
}

/** Reports whether a word is the path of a recording: pods are not called so. */
function isRecordingPath(word: string): boolean {
  return /^\.{0,2}\//.test(word) || word.endsWith('.jsonl');
}

async function readRecordingTimelines(
  {report, signal}: CommandContext,
  [path = '', ...others]: readonly string[],
  {from, manager, namespace, selector}: TimelineFlags,
): Promise<Timelines> {
  if (others.length > 0)
    throw new UsageError('only one recording can be shown', {
      hint: 'join the files of a rotated recording with cat, the oldest first',
    });
  if ([from, manager, namespace, selector].some((value) => value !== undefined))
    throw new UsageError('--from and flags that select pods cannot be combined with a recording');
  const warn = (text: string): void => {
    report.warn(text);
  };
  const {timelines, damaged} = await recordingTimelines(readUndamaged(path, {signal, warn}));
  if (damaged > 0) warn(`${counted(damaged, 'call')} of "${path}" left out: their times are damaged`);
  return {timelines, medians: computeMedians(timelines)};
}

/** Returns the timelines of the selected pods; undefined if none of the words names one, which is reported. */
async function readPodTimelines(
  services: CommandContext,
  words: readonly string[],
  flags: TimelineFlags,
): Promise<Timelines | undefined> {
  const reader = new PodReader(services);
  const missing: MissingWord[] = [];
  const selected = await reader.select(words, flags, (error, word) => missing.push({word, error}));
  reader.requireRuntime();
  const gone = await findDeleted(services, missing, flags);
  if (words.length > 0 && selected.length + gone.length === 0) return undefined;
  const all = await reader.select([], {});
  const uids = new Set(selected.map(({uid}) => uid));
  const others = all.filter(({uid}) => !uids.has(uid)).slice(0, COMPARED_PODS);
  return await computeTimelines(services, reader, {
    shown: await reader.observe([...selected, ...others]),
    uids,
    gone,
  });
}

/** A word that names no pod of the node, and the error for it. */
interface MissingWord {
  readonly word: string;
  readonly error: KcriError;
}

/** Returns the last deleted pod that each word names. Words that name none are reported. */
async function findDeleted(
  services: CommandContext,
  missing: readonly MissingWord[],
  {manager = 'kcri', namespace, selector}: PodSelectionFlagValues,
): Promise<readonly PodFacts[]> {
  if (missing.length === 0) return [];
  const {findRecordsByName, podRef} = await import('../../kubelet/index.js');
  const isPossible = manager === 'kcri' && selector === undefined;
  const deleted = isPossible ? await readDeletedFacts(services) : [];
  const candidates = deleted
    .map((facts) => ({...podRef(facts.pod), facts}))
    .filter((each) => namespace === undefined || each.namespace === namespace);
  return missing.flatMap(({word, error}) => {
    const last = findRecordsByName(candidates, word).at(-1);
    if (last === undefined) services.report.fail(error);
    return last?.facts ?? [];
  });
}

async function printTimelines(
  services: CommandContext,
  found: Timelines,
  {
    form,
    header,
    recording,
  }: {readonly form: Form; readonly header: boolean; readonly recording: string | undefined},
): Promise<void> {
  const {out} = services;
  const {timelines, medians} = found;
  if (form.kind !== 'table' && form.kind !== 'waterfall') {
    out.printData((await formatSorted(form, timelineJson(timelines, medians))).replace(/\n\n$/, '\n'));
    return;
  }
  reportIfNone(services, found, recording);
  if (timelines.length === 0) return;
  if (form.kind === 'table') out.printText(timelineTable(timelines, {header}));
  else await printWaterfalls(services, found);
}

/** Says that there are no pods. */
function reportIfNone({report}: CommandContext, {timelines}: Timelines, recording: string | undefined): void {
  if (timelines.length > 0) return;
  report.info(
    recording === undefined
      ? 'No resources found'
      : `No pods found in "${recording}": it has no calls that create, start, stop or remove something`,
  );
}

async function printWaterfalls(
  {out, context: {env}}: CommandContext,
  {timelines, medians}: Timelines,
): Promise<void> {
  const [{Chalk}, {formatWaterfall, waterfallOptions}] = await Promise.all([
    import('chalk'),
    import('./waterfall.js'),
  ]);
  const options = {
    ...waterfallOptions(env, out.stdout),
    chalk: new Chalk({level: out.colors ? 1 : 0}),
    medians,
  };
  const lines = timelines.flatMap((timeline, index) => [
    ...(index === 0 ? [] : ['']),
    ...formatWaterfall(timeline, options),
  ]);
  // Escaped, except for its colors.
  out.stdout.write(`${lines.join('\n')}\n`);
}
