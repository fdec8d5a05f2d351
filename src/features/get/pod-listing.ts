import {setListExitCode} from '../lists/list-flags.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {
  EnvironmentContext,
  OutputContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import type {ObjectFormat, OutputFormat} from '../../cli/output/parse-output-format.js';
import {computePodRow} from '../pods/pod-row.js';
import {podColumns, type ExplainedPodRow} from '../pods/pod-table.js';
import {GrowingTable} from '../../format/growing-table.js';
import {formatPodDocument, formatPods, sortPods} from '../pods/pod-text.js';
import {reportNotRestarted} from '../pods/not-restarted.js';
import type {ShownPod} from '../pods/listed-pod.js';
import type {PodReader} from '../pods/pod-reader.js';
import {watchPods, type PodsToShow} from './watch-pods.js';

/** Output formats of pods. */
export const POD_FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

type PodForm = OutputFormat<(typeof POD_FORMATS)[number]>;

/** Presentation of a list of pods. */
export interface PodListingOptions {
  readonly form: PodForm;
  readonly header: boolean;
  /** True to set the exit code, in place of a note, if no pod is selected. */
  readonly exitCode: boolean;
  /** Field to sort by, as JSONPath; by default namespace and name. */
  readonly sortBy: string | undefined;
  /** True to show the labels of each pod. */
  readonly labels: boolean;
}

/** Prints the selected pods with their status, once or whenever they change. */
export class PodListing {
  readonly #services: EnvironmentContext & OutputContext & ReportContext & SignalContext;
  readonly #reader: PodReader;
  readonly #selected: PodsToShow;
  readonly #options: PodListingOptions;
  /** Table to which a watch adds rows. */
  readonly #table: GrowingTable<ExplainedPodRow>;
  /** Causes of the states by UID, for a wide table. */
  #causes: ReadonlyMap<string | undefined, string> = new Map();

  constructor(
    services: EnvironmentContext & OutputContext & ReportContext & SignalContext,
    reader: PodReader,
    selected: PodsToShow,
    options: PodListingOptions,
  ) {
    const {form, header, labels} = options;
    const columns = podColumns({
      wide: form.kind === 'wide',
      why: form.kind === 'wide',
      namespace: selected.showsNamespace,
      manager: selected.showsManager,
      labels,
    });
    this.#services = services;
    this.#reader = reader;
    this.#selected = selected;
    this.#options = options;
    this.#table = new GrowingTable(columns, {header});
  }

  /** Prints the pods once. Rejects with KcriError. */
  async print(): Promise<void> {
    const {out, report} = this.#services;
    const {words, pods: listed, selection} = this.#selected;
    const {form, sortBy, exitCode} = this.#options;
    const observed = await this.#reader.observe(listed);
    this.#reader.requireRuntime();
    const pods = await sortPods(
      observed.map(({pod}) => pod),
      sortBy,
    );
    setListExitCode(report, {'exit-code': exitCode}, pods.length);
    if (!isForPeople(form)) {
      out.printData(await formatPods(form, pods, words.length === 1 && pods.length === 1));
      return;
    }
    await this.#explain(observed);
    if (pods.length === 0 && !exitCode) report.info(noResourcesText(selection.namespace));
    out.printText(this.#text(form, pods));
    if (form.kind !== 'name') reportNotRestarted(report, observed);
  }

  /** Prints every pod once, and again when it is deleted or anything but its age changes, until Ctrl-C. */
  async watch(): Promise<void> {
    const {context, out} = this.#services;
    const {form} = this.#options;
    const changes = new PodChangeDetector();
    await watchPods(this.#services, this.#reader, this.#selected, {
      read: async (listed) => await this.#reader.observe(listed),
      show: async (observed) => {
        await this.#explain(observed);
        const pods = observed.map(({pod}) => pod);
        const changed = changes.detect(pods, context.clock.now());
        if (isForPeople(form)) out.printText(this.#text(form, changed));
        else for (const pod of changed) out.printData(await formatPodDocument(form, pod));
      },
    });
  }

  /** Finds the causes for a wide table. */
  async #explain(observed: readonly ShownPod[]): Promise<void> {
    if (this.#options.form.kind !== 'wide') return;
    const {shortCause} = await import('../why/short-cause.js');
    const now = this.#services.context.clock.now();
    this.#causes = new Map(observed.map((shown) => [shown.pod.metadata.uid, shortCause(shown, now)]));
  }

  #text({kind}: Exclude<PodForm, ObjectFormat>, pods: readonly Pod[]): string {
    if (kind === 'name') return pods.map(({metadata}) => `pod/${metadata.name ?? ''}\n`).join('');
    const now = this.#services.context.clock.now();
    return this.#table.text(
      pods.map((pod) => ({...computePodRow(pod, now), why: this.#causes.get(pod.metadata.uid)})),
    );
  }
}

/** Reports whether a format is text for people. */
export function isForPeople(form: PodForm): form is Exclude<PodForm, ObjectFormat> {
  return form.kind === 'table' || form.kind === 'wide' || form.kind === 'name';
}

function noResourcesText(namespace: string | undefined): string {
  return namespace === undefined ? 'No resources found' : `No resources found in ${namespace} namespace.`;
}

/** Detects changes of pods between two samples. */
class PodChangeDetector {
  #before: ReadonlyMap<string, {readonly pod: Pod; readonly text: string}> = new Map();

  /** Returns new and changed pods, and the last state of removed pods. */
  detect(pods: readonly Pod[], nowMs: number): readonly Pod[] {
    const now = new Map(pods.map((pod) => [pod.metadata.uid ?? '', {pod, text: JSON.stringify(pod)}]));
    const before = this.#before;
    this.#before = now;
    const changed = Array.from(now).filter(([uid, {text}]) => before.get(uid)?.text !== text);
    const removed = Array.from(before).filter(([uid]) => !now.has(uid));
    return [...removed.map(([, {pod}]) => ended(pod, nowMs)), ...changed.map(([, {pod}]) => pod)];
  }
}

/** Returns the final state of a pod that was removed between two samples, as being deleted. */
function ended(pod: Pod, nowMs: number): Pod {
  const deletionTimestamp = pod.metadata.deletionTimestamp ?? new Date(nowMs).toISOString();
  return {...pod, metadata: {...pod.metadata, deletionTimestamp}};
}
