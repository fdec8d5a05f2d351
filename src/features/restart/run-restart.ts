import {findByName} from '../../base/by-name.js';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {messageOf, SystemError} from '../../base/errors.js';
import type {Container, RuntimeService} from '../../cri/index.js';
import type {JsonObject} from '../../format/json.js';
import type {PodRecord} from '../../kubelet/index.js';
import {truncateId} from '../../format/truncate-id.js';
import {recreateContainer} from '../../operations/containers/recreate-container.js';
import {stopContainer} from '../../operations/containers/stop-container.js';
import type {DialectContext, NameContext, OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {OutputFlagValues} from '../../cli/output/output-format.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import type {ListedPod} from '../pods/listed-pod.js';
import type {PodReader} from '../pods/pod-reader.js';
import {formatPodTitle} from '../pods/pod-title.js';
import type {LifecycleTarget} from '../targets/find-targets.js';
import {readTargets, type TargetFlagValues} from '../targets/read-targets.js';
import type {SeenPod} from '../wait/judge-readiness.js';
import {statusOfContainer} from '../pods/restart-policy.js';
import {currentId} from '../wait/wait-target.js';
import {gracePeriodOf, planRestarts, type RestartPlan} from './plan-restart.js';
import {waitForNextInstance} from './wait-for-next.js';

/** Output formats of `restart`. */
export const RESTART_FORMATS = ['table', 'json', 'yaml'] as const;

/** Maximum number of containers that are restarted at once. */
const MAX_CONCURRENT = 16;

/** Values of the flags of `restart`. */
export interface RestartFlags extends TargetFlagValues, OutputFlagValues {
  /** Grace period in seconds. */
  readonly timeout?: number | undefined;
  /** Time for a manager to start the next instance, in ms. */
  readonly wait: number;
  readonly 'keep-old': boolean;
  readonly quiet: boolean;
}

/** A restarted container. */
interface Restarted {
  readonly listed: ListedPod;
  readonly name: string;
  readonly id: string;
  readonly oldId: string | undefined;
}

/** Restarts the named containers and all containers of the named pods. Rejects with KcriError. */
export async function runRestart(
  services: RuntimeContext & DialectContext & NameContext & OutputContext,
  words: readonly string[],
  flags: RestartFlags,
): Promise<void> {
  const {out, report} = services;
  const form = await parseOutputFormat(flags, RESTART_FORMATS, services);
  const {reader, targets} = await readTargets(services, words, flags, {onMissing: report.fail});
  const restarter = new Restarter(services, reader, flags);
  const results = await restarter.restart(targets, (result) => {
    if (form.kind !== 'table') return;
    const {listed, name, id} = result;
    if (flags.quiet) out.print(id);
    else out.printText(`container "${formatPodTitle(listed)}/${name}" restarted as ${truncateId(id)}\n`);
  });
  if (form.kind === 'table') return;
  const items = results.map(({listed, name, id, oldId}): JsonObject => ({
    namespace: listed.namespace,
    pod: listed.name,
    container: name,
    id,
    ...(oldId !== undefined && {oldId}),
  }));
  out.printData((await formatSorted(form, {items})).replace(/\n\n$/, '\n'));
}

/** Time for a kubelet to start the next instance, in ms: its maximum back-off and a little more. */
export const RESTART_WAIT_MS = 330_000;

/** Restarts a container, or the containers of a pod, as `kcri restart` does. Rejects with the first KcriError. */
export async function restartTarget(
  services: RuntimeContext,
  reader: PodReader,
  target: LifecycleTarget,
): Promise<void> {
  const errors: unknown[] = [];
  const flags = {wait: RESTART_WAIT_MS, 'keep-old': false};
  const restarter = new Restarter(services, reader, flags, (error) => {
    errors.push(error);
  });
  await restarter.restart([target], () => undefined);
  if (errors.length > 0) throw errors[0];
}

/** Restarts containers, by their managers or by itself. */
class Restarter {
  readonly #services: RuntimeContext;
  readonly #reader: PodReader;
  readonly #flags: Pick<RestartFlags, 'timeout' | 'wait' | 'keep-old'>;
  readonly #onFailure: (error: unknown) => void;

  constructor(
    services: RuntimeContext,
    reader: PodReader,
    flags: Pick<RestartFlags, 'timeout' | 'wait' | 'keep-old'>,
    onFailure: (error: unknown) => void = services.report.fail,
  ) {
    this.#services = services;
    this.#reader = reader;
    this.#flags = flags;
    this.#onFailure = onFailure;
  }

  /** Restarts the targets, reports those that fail, and returns the others. */
  async restart(
    targets: readonly LifecycleTarget[],
    onDone: (result: Restarted) => void,
  ): Promise<readonly Restarted[]> {
    const seen = await this.#observe(targets.map(({listed}) => listed));
    const results: Restarted[] = [];
    const jobs = await this.#jobs(targets, seen);
    const run = async (job: RestartJob): Promise<void> => {
      this.#services.signal.throwIfAborted();
      try {
        const {oldId, id} = await this.#restart(job);
        const result = {listed: job.seen.listed, name: job.plan.name, id, oldId};
        results.push(result);
        onDone(result);
      } catch (error) {
        this.#services.signal.throwIfAborted();
        this.#onFailure(error);
      }
    };
    // The managers of containers work beside each other; kcri replaces one container after the other.
    const managed = jobs.filter(({plan}) => plan.kind === 'managed');
    await Promise.all([
      forEachLimit(managed, MAX_CONCURRENT, run),
      forEachLimit(
        jobs.filter((job) => !managed.includes(job)),
        1,
        run,
      ),
    ]);
    return results;
  }

  async #jobs(
    targets: readonly LifecycleTarget[],
    seen: ReadonlyMap<string, SeenPod>,
  ): Promise<readonly RestartJob[]> {
    const jobs = new Map<string, RestartJob>();
    for (const target of targets) {
      const pod = seen.get(target.listed.uid);
      if (pod === undefined) continue;
      for (const plan of planRestarts(target, pod, await this.#isManagerRunning(target.listed)))
        jobs.set(`${target.listed.uid} ${plan.name}`, {seen: pod, plan});
    }
    return [...jobs.values()];
  }

  /** Reports whether a program that restarts the containers of a pod runs. A kubelet other than kcri is assumed to. */
  async #isManagerRunning({manager, record}: ListedPod): Promise<boolean> {
    if (record === undefined) return manager === 'kubelet';
    const {isPodRun} = await import('../../kubelet/index.js');
    return await isPodRun(this.#services.settings.rootDir, record);
  }

  async #observe(listed: readonly ListedPod[]): Promise<ReadonlyMap<string, SeenPod>> {
    const nowMs = this.#services.context.clock.now();
    const shown = await this.#reader.observe([...new Set(listed)]);
    return new Map(shown.map((each) => [each.listed.uid, {listed: each.listed, pod: each.pod, nowMs}]));
  }

  async #restart({
    seen,
    plan,
  }: RestartJob): Promise<{readonly id: string; readonly oldId: string | undefined}> {
    const {signal, report} = this.#services;
    const shown = `${formatPodTitle(seen.listed)}/${plan.name}`;
    if (plan.kind === 'refused') throw new SystemError(`cannot restart container "${shown}": ${plan.reason}`);
    const {newest} = plan;
    const {record} = seen.listed;
    const runtime = await this.#runtimeOf(seen.listed);
    const gracePeriodSeconds = gracePeriodOf(seen, newest, this.#flags.timeout);
    if (plan.kind === 'managed') {
      const oldId = newest?.id ?? currentId(seen, plan.name);
      if (oldId !== undefined && isRunning(seen, plan.name))
        await stopContainer(runtime, oldId, {shown, gracePeriodSeconds, signal});
      const next = {listed: seen.listed, name: plan.name, oldId, shown, timeoutMs: this.#flags.wait};
      return {id: await waitForNextInstance(this.#services, this.#reader, next), oldId};
    }
    if (newest === undefined)
      throw new SystemError(`cannot restart container "${shown}": it has not been created`);
    const {id} = await recreateContainer(runtime, newest, {
      shown,
      siblings: siblingsOf(seen.listed, newest),
      gracePeriodSeconds,
      keeps: this.#flags['keep-old'] ? 'all' : record === undefined ? 'none' : 'last',
      onWarning: report.warn,
      signal,
    });
    if (record !== undefined) await this.#recordRestart(record, plan.name);
    return {id, oldId: newest.id};
  }

  /** Records an event about a restart of a pod of kcri, whose last instance is kept as its last state. */
  async #recordRestart(record: PodRecord, name: string): Promise<void> {
    const {recordPodEvent} = await import('../../kubelet/index.js');
    const {context, settings, report, signal} = this.#services;
    const isInit = findByName(record.pod.spec.initContainers ?? [], name) !== undefined;
    const event = {
      type: 'Normal',
      reason: 'Restarted',
      message: 'Container restarted by "kcri restart"',
      fieldPath: `spec.${isInit ? 'initContainers' : 'containers'}{${name}}`,
    } as const;
    const onFailure = (error: unknown): void => {
      report.warn(`cannot record the restart: ${messageOf(error)}`);
    };
    await recordPodEvent(record, event, {rootDir: settings.rootDir, clock: context.clock, signal, onFailure});
  }

  async #runtimeOf({record}: ListedPod): Promise<RuntimeService> {
    const {connections} = this.#services;
    const connection =
      record === undefined ? await connections.default() : await connections.open(record.endpoint);
    return connection.runtime;
  }
}

interface RestartJob {
  readonly seen: SeenPod;
  readonly plan: RestartPlan;
}

function siblingsOf({inRuntime}: ListedPod, {podSandboxId}: Container): readonly Container[] {
  return (inRuntime?.containers ?? []).filter((container) => container.podSandboxId === podSandboxId);
}

/** Reports whether the container of that name runs. */
function isRunning({pod}: SeenPod, name: string): boolean {
  return statusOfContainer(pod, name)?.state?.running !== undefined;
}
