import {anySignal} from '../../base/async/any-signal.js';
import type {
  EnvironmentContext,
  OutputContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import type {ListedPodFlagValues, PodSelectionFlagValues} from '../pods/pod-selection-flags.js';
import {repeatSample} from '../../cli/output/watch-screen.js';
import type {ListedPod, ShownPod} from '../pods/listed-pod.js';
import {PodReader} from '../pods/pod-reader.js';

/** Pods that words and flags of `get` select. */
export interface PodsToShow {
  readonly words: readonly string[];
  readonly selection: PodSelectionFlagValues;
  readonly pods: readonly ListedPod[];
  /** True if the table has a namespace column: on request, or if a pod is not in `default`. */
  readonly showsNamespace: boolean;
  /** True if the table has a column for the manager: a pod is not kcri's. */
  readonly showsManager: boolean;
}

/** Interval of a watch, in ms; equals that of a kubelet's relists. */
const WATCH_MS = 1000;

/** Returns the pods to show; undefined if words name only missing pods, which is reported. */
export async function selectPodsToShow(
  reader: PodReader,
  words: readonly string[],
  flags: ListedPodFlagValues,
): Promise<PodsToShow | undefined> {
  const selected = await select(reader, words, flags);
  return words.length > 0 && selected.pods.length === 0 ? undefined : selected;
}

/** Returns the pods that flags select, with their statuses. */
export async function observePodsToShow(
  services: RuntimeContext,
  flags: ListedPodFlagValues,
): Promise<PodsToShow & {readonly shown: readonly ShownPod[]}> {
  const reader = new PodReader(services);
  const selected = await select(reader, [], flags);
  const shown = await reader.observe(selected.pods);
  reader.requireRuntime();
  return {...selected, shown};
}

async function select(
  reader: PodReader,
  words: readonly string[],
  flags: ListedPodFlagValues,
): Promise<PodsToShow> {
  const all = flags['all-namespaces'];
  const selection = all ? {...flags, namespace: undefined} : flags;
  const pods = await reader.select(words, selection);
  reader.requireRuntime();
  const others = selection.namespace === undefined && pods.some(({namespace}) => namespace !== 'default');
  return {
    words,
    selection,
    pods,
    showsNamespace: all || others,
    showsManager: pods.some(({manager}) => manager !== 'kcri'),
  };
}

/** Read and show functions of a watch. */
export interface PodWatch<T> {
  readonly read: (pods: readonly ListedPod[]) => Promise<T>;
  readonly show: (sample: T) => Promise<void>;
}

/** Reads and shows the selected pods periodically, including new ones, until Ctrl-C. */
export async function watchPods<T>(
  {context, out, signal: interrupted}: EnvironmentContext & OutputContext & SignalContext,
  reader: PodReader,
  {words, selection}: PodsToShow,
  {read, show}: PodWatch<T>,
): Promise<void> {
  using either = anySignal(interrupted, out.stdout.closed);
  const {signal} = either;
  const sample = async (): Promise<T> => {
    const pods = await reader.select(words, selection, () => undefined);
    const result = await read(pods);
    reader.requireRuntime();
    return result;
  };
  try {
    for await (const each of repeatSample(sample, {clock: context.clock, pauseMs: WATCH_MS, signal})) {
      await show(each);
      await out.stdout.ready(signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
