import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {describePoint, planPoints, type FaultPoint} from './fault-point.js';
import {KubeletProcesses} from './killable-driver.js';
import type {CaseOrder, PointReport} from './point-report.js';
import {playPoint, type Outcome} from './play-point.js';
import {killAllocation} from './allocations/kill-allocation.js';
import {killTakeover} from './takeover/kill-takeover.js';
import {playVolumePoints} from './volumes/play-volume-points.js';
import {AFTERMATHS} from './volumes/volume-point.js';

const CONCURRENCY = 8;
const CLOSED_WITHIN_MS = 5000;

/*
 * A process of the fault campaign: plays the cases that it receives and reports each point, then the end of the case.
 */
const processes = new KubeletProcesses(join(import.meta.dirname, 'kubelet-process.js'));
/** Plays a case with a kubelet that is killed before a step, which is one of a run without a kill. */
type KillStep = (
  step: number,
  startProcess: () => ReturnType<KubeletProcesses['take']>,
) => Promise<{
  readonly steps: readonly string[] | undefined;
  readonly killedBefore: string | undefined;
  readonly violations: readonly string[];
}>;
/** Cases that are not golden ones, with the programs of their kubelets, whose clock is real. */
const STEP_CASES: Readonly<Record<string, readonly [play: KillStep, program: string]>> = {
  takeover: [killTakeover, 'takeover-process.js'],
  allocation: [killAllocation, 'allocation-process.js'],
};
const playing = new Set<string>();
let descriptorsAtStart: number | undefined;
const report = (point: PointReport): void => void process.send?.(point);
process.on('unhandledRejection', (reason) => {
  report({
    caseName: [...playing].join(', '),
    kind: 'none',
    point: 'one of these',
    wasReached: true,
    violations: [`unhandled rejection: ${reason instanceof Error ? reason.stack : String(reason)}`],
  });
});
process.on('message', (order: CaseOrder | 'end') => {
  if (order === 'end') void end();
  else
    void playCase(order).then(() => {
      // The first case opens files that stay, such as the inotify instance.
      descriptorsAtStart ??= countDescriptors();
      process.send?.('done');
    });
});
// The coordinator has ended.
process.on('disconnect', () => {
  process.exit(1);
});
process.send?.('done');

function countDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Reports how many more files are open than at the start, after a while if there are any. */
async function end(): Promise<void> {
  const extra = (): number => countDescriptors() - (descriptorsAtStart ?? Infinity);
  const until = performance.now() + CLOSED_WITHIN_MS;
  while (extra() > 0 && performance.now() < until) await delay(100);
  processes[Symbol.dispose]();
  process.send?.({descriptors: extra()}, () => {
    process.exit();
  });
}

async function playCase(order: CaseOrder): Promise<void> {
  const killed = STEP_CASES[order.caseName];
  const aftermath = AFTERMATHS.find((name) => order.caseName === `volumes ${name}`);
  if (aftermath !== undefined) {
    using kubelets = new KubeletProcesses(order.runner, [join(import.meta.dirname, 'volume-process.cjs')]);
    const random = pseudoRandom(seedOf(order.caseName, order.seed));
    await playVolumePoints(order, {aftermath, random, report, processes: kubelets});
  } else await (killed === undefined ? playCasePoints(order) : playSteps(order, killed));
}

async function playCasePoints({caseName, every, seed, only = ''}: CaseOrder): Promise<void> {
  const base = await playPoint({caseName});
  report({caseName, kind: 'none', point: 'no fault', wasReached: true, violations: base.violations});
  const random = pseudoRandom(seedOf(caseName, seed));
  const points = planPoints(base.calls, (n) => Math.floor(random() * n))
    .filter(() => random() * every < 1)
    .filter((point) => describePoint(point).includes(only));
  const queue = points.values();
  await Promise.all(
    Array.from({length: CONCURRENCY}, async () => {
      for (const point of queue) await playAndReport(caseName, point, base);
    }),
  );
}

/** Kills the kubelet of a case before each of its steps. */
async function playSteps(
  {caseName, every, seed, only = ''}: CaseOrder,
  [play, program]: readonly [play: KillStep, program: string],
): Promise<void> {
  using kubelets = new KubeletProcesses(join(import.meta.dirname, program));
  const start = () => kubelets.take();
  const {steps = [], violations} = await play(Infinity, start);
  report({caseName, kind: 'none', point: 'no fault', wasReached: true, violations});
  const random = pseudoRandom(seedOf(caseName, seed));
  for (const [step, name] of steps.entries()) {
    const point = `kill before step ${step}, ${name}`;
    if (random() * every >= 1 || !point.includes(only)) continue;
    const killed = await play(step, start);
    report({
      caseName,
      kind: 'kill',
      // Steps may come in another order than without a kill.
      point: `kill before step ${step}, ${killed.killedBefore ?? name}`,
      wasReached: killed.steps === undefined,
      violations: killed.violations,
    });
  }
}

async function playAndReport(caseName: string, point: FaultPoint, expected: Outcome): Promise<void> {
  const name = `${caseName}: ${describePoint(point)}`;
  playing.add(name);
  const {violations, wasReached} = await playPoint({
    caseName,
    point,
    expected,
    startProcess: () => processes.take(),
  });
  playing.delete(name);
  report({
    caseName,
    kind: point.kind,
    ...(point.kind === 'rpc' && {fault: point.fault}),
    point: describePoint(point),
    wasReached,
    violations,
  });
}

function seedOf(caseName: string, seed: number): number {
  return Buffer.from(caseName).reduce((hash, byte) => (Math.imul(hash, 31) + byte) | 0, seed);
}

/** Returns a generator of numbers in [0, 1) (mulberry32). */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
