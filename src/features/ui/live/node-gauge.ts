import {setMaxListeners} from 'node:events';
import {createDeadline} from '../../../base/async/deadline.js';
import {runInBackground} from '../../../base/async/background-work.js';
import {anySignal} from '../../../base/async/any-signal.js';
import {KcriError, SystemError} from '../../../base/errors.js';
import {KUBELET_ROOT_DIR} from '../../../base/host/kubelet-root-dir.js';
import type {RuntimeContext} from '../../../cli/command/contexts.js';
import {escapeToLine} from '../../../format/escape-controls.js';
import {parseMemory, parsePressure} from '../../../kubelet/index.js';
import {valueOf} from '../../doctor/fact.js';
import type {FileReader} from '../../doctor/readers/file-reader.js';
import {openFileReader} from '../../doctor/readers/open-file-reader.js';
import type {UiDisk, UiNode} from '../protocol.js';
import {readNodeDisks} from './node-disks.js';

/** What a gauge measures of a node. */
export type NodeMeasurement = Omit<UiNode, 'key' | 'name' | 'failure'>;

/** Time between two measurements of a remote node, whose files are read through ssh, and of file systems, in ms. */
const REMOTE_PAUSE_MS = 10_000;
const DISK_PAUSE_MS = 30_000;
/** Time in which the files of a node must be read, in ms. */
const TIMEOUT_MS = 5000;

const RESOURCES = ['cpu', 'memory', 'io'] as const;

/** Processor time of all cores together, in ticks. */
interface CpuTicks {
  readonly used: number;
  readonly all: number;
  readonly cores: number;
}

/** Measures a node by its files: processor, memory, pressure and file systems. */
export class NodeGauge {
  readonly #services: RuntimeContext;
  readonly #onMeasured: () => void;
  #cpu: CpuTicks | undefined;
  #cpuPercent: number | undefined;
  #latest: NodeMeasurement = {};
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #isRunning = false;
  #disks: readonly UiDisk[] = [];
  #disksAtMs = Number.NEGATIVE_INFINITY;
  #runtime: string | undefined;

  /** `onMeasured` is called after each measurement. */
  constructor(services: RuntimeContext, onMeasured: () => void) {
    this.#services = services;
    this.#onMeasured = onMeasured;
  }

  /** The last measurement; empty before the first. */
  get latest(): NodeMeasurement {
    return this.#latest;
  }

  /** Begins a measurement, unless one is running, or the last one is newer than the node can bear. */
  start(): void {
    const {context, connections} = this.#services;
    const nowMs = context.clock.monotonic();
    const pauseMs = connections.remote === undefined ? 0 : REMOTE_PAUSE_MS;
    if (this.#isRunning || nowMs - this.#startedAtMs < pauseMs) return;
    this.#isRunning = true;
    this.#startedAtMs = nowMs;
    runInBackground('measurement of a node', this.#measure());
  }

  async #measure(): Promise<void> {
    const {context, signal} = this.#services;
    using deadline = createDeadline(context.clock, TIMEOUT_MS, () => new SystemError('no answer in time'));
    using either = anySignal(signal, deadline.signal);
    setMaxListeners(0, either.signal);
    try {
      const files = await openFileReader(this.#services, either.signal);
      this.#latest = {...(await this.#read(files, either.signal)), measuredMs: context.clock.now()};
      this.#onMeasured();
    } catch (error) {
      // The node itself is reported by its sample.
      if (!signal.aborted && !(error instanceof KcriError)) throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  async #read(files: FileReader, signal: AbortSignal): Promise<NodeMeasurement> {
    const [stat, memory, runtime, disks, ...pressures] = await Promise.all([
      files.text('/proc/stat'),
      files.text('/proc/meminfo'),
      this.#readRuntime(signal),
      this.#readDisks(files, signal),
      ...RESOURCES.map(async (resource) => await files.text(`/proc/pressure/${resource}`)),
    ]);
    const ticks = parseCpuTicks(valueOf(stat) ?? '');
    const pressure = RESOURCES.flatMap((resource, index) => {
      const text = pressures[index] && valueOf(pressures[index]);
      const share = text === undefined ? undefined : parsePressure(text)?.Some?.Avg10;
      return share === undefined ? [] : [[resource, share] as const];
    });
    return {
      ...this.#cpuUsage(ticks),
      ...memoryUsage(valueOf(memory)),
      ...(disks.length > 0 && {disks}),
      ...(pressure.length > 0 && {pressure: Object.fromEntries(pressure)}),
      ...(runtime !== undefined && {runtime}),
    };
  }

  #cpuUsage(ticks: CpuTicks | undefined): Pick<NodeMeasurement, 'cores' | 'cpuPercent'> {
    if (ticks === undefined) return {};
    const before = this.#cpu;
    const passed = before === undefined ? 0 : ticks.all - before.all;
    // Two measurements within a tick of the kernel.
    if (before === undefined || passed > 0) this.#cpu = ticks;
    if (before !== undefined && passed > 0)
      this.#cpuPercent = Math.round(((ticks.used - before.used) / passed) * 1000) / 10;
    return {cores: ticks.cores, ...(this.#cpuPercent !== undefined && {cpuPercent: this.#cpuPercent})};
  }

  async #readRuntime(signal: AbortSignal): Promise<string | undefined> {
    if (this.#runtime !== undefined) return this.#runtime;
    const {connections} = this.#services;
    const {runtime} = await connections.default();
    const {runtimeName, runtimeVersion} = await runtime.version({}, {signal});
    this.#runtime = escapeToLine(`${runtimeName} ${runtimeVersion}`);
    return this.#runtime;
  }

  /** Reads the file systems that pods need. */
  async #readDisks(files: FileReader, signal: AbortSignal): Promise<readonly UiDisk[]> {
    const {context, settings} = this.#services;
    const nowMs = context.clock.monotonic();
    if (nowMs - this.#disksAtMs < DISK_PAUSE_MS) return this.#disks;
    this.#disksAtMs = nowMs;
    const images = await this.#imagePaths(signal);
    const paths = ['/', KUBELET_ROOT_DIR, settings.rootDir, ...images];
    this.#disks = await readNodeDisks(files, paths);
    return this.#disks;
  }

  async #imagePaths(signal: AbortSignal): Promise<readonly string[]> {
    const {connections} = this.#services;
    const {images} = await connections.default();
    const {imageFilesystems} = await images.imageFsInfo({}, {signal});
    return imageFilesystems.flatMap(({fsId}) => fsId?.mountpoint ?? []).filter((path) => path !== '');
  }
}

/** Parses the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; the guests are in user and nice. */
export function parseCpuTicks(stat: string): CpuTicks | undefined {
  const [, line] = /^cpu +([\d ]+)$/m.exec(stat) ?? [];
  if (line === undefined) return undefined;
  const ticks = line.split(' ').map(Number).slice(0, 8);
  const all = ticks.reduce((sum, each) => sum + each, 0);
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  return {used: all - idle, all, cores: stat.match(/^cpu\d+ /gm)?.length ?? 1};
}

function memoryUsage(text: string | undefined): Pick<NodeMeasurement, 'memoryBytes' | 'memoryTotalBytes'> {
  if (text === undefined) return {};
  const {workingSetBytes, memoryBytes} = parseMemory(text);
  return {memoryBytes: Number(workingSetBytes), memoryTotalBytes: Number(memoryBytes)};
}
