import type {HeapProfiler, Profiler, Runtime} from 'node:inspector';
import {fileURLToPath} from 'node:url';
import {medianOf} from '../../../base/compare.js';
import type {Frame, PprofProfile, Sample, ValueType} from './pprof-profile.js';

/** Time of a recording, in ms. */
export interface RecordedTime {
  /** Start, in ms since the epoch. */
  readonly timeMs: number;
  readonly durationMs: number;
}

/** Names of V8's nodes that are not on a stack: the root, and the time in which the process waits. */
const ROOT = '(root)';
const IDLE = '(idle)';
const CPU: ValueType = {type: 'cpu', unit: 'nanoseconds'};

/**
 * Converts a CPU profile of V8 to the profile of a Go program: samples and CPU time per stack. V8 samples by the wall clock; the
 * time in which the process was idle is left out. The innermost function has the line that was executed, the others have
 * that of their start, since V8 records no more. Pure.
 */
export function convertCpuProfile(
  {nodes, timeDeltas = []}: Profiler.Profile,
  {timeMs, durationMs}: RecordedTime,
): PprofProfile {
  const parents = new Map(nodes.flatMap(({id, children = []}) => children.map((child) => [child, id])));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  // Gaps between samples do not change the median.
  const periodNanos = medianOf(timeDeltas) * 1000;
  const callers = (id: number): readonly Frame[] => {
    const frames: Frame[] = [];
    for (let parent = parents.get(id); parent !== undefined; parent = parents.get(parent)) {
      const node = byId.get(parent);
      if (node !== undefined && node.callFrame.functionName !== ROOT) frames.push(toFrame(node.callFrame));
    }
    return frames;
  };
  const samples = nodes.flatMap((node): readonly Sample[] => {
    const {id, callFrame} = node;
    if (callFrame.functionName === IDLE || callFrame.functionName === ROOT) return [];
    const frame = toFrame(callFrame);
    const outer = callers(id);
    return ticksByLine(node, frame.startLine).map(({line, ticks}) => ({
      stack: [{...frame, line}, ...outer],
      values: [ticks, ticks * periodNanos],
    }));
  });
  return {
    sampleTypes: [{type: 'samples', unit: 'count'}, CPU],
    samples,
    timeMs,
    durationMs,
    periodType: CPU,
    period: periodNanos,
  };
}

/** Returns the samples of a node by line; those without a line belong to the start of the function. */
function ticksByLine(
  {hitCount = 0, positionTicks = []}: Profiler.ProfileNode,
  startLine: number,
): readonly Profiler.PositionTickInfo[] {
  const rest = positionTicks.reduce((left, {ticks}) => left - ticks, hitCount);
  return rest <= 0 ? positionTicks : [...positionTicks, {line: startLine, ticks: rest}];
}

/** Sampled allocations: those that were live at the end of the recording, or all. */
export type HeapSampleType = 'inuse_space' | 'alloc_space';

/** Converts a sampled heap profile of V8: bytes per stack, with the lines at which the functions start. Pure. */
export function convertHeapProfile(
  {head}: HeapProfiler.SamplingHeapProfile,
  type: HeapSampleType,
  {timeMs, durationMs, intervalBytes}: RecordedTime & {readonly intervalBytes: number},
): PprofProfile {
  return {
    sampleTypes: [{type, unit: 'bytes'}],
    samples: [...heapSamples(head, [])],
    timeMs,
    durationMs,
    periodType: {type: 'space', unit: 'bytes'},
    period: intervalBytes,
  };
}

function* heapSamples(
  {callFrame, selfSize, children}: HeapProfiler.SamplingHeapProfileNode,
  callers: readonly Frame[],
): Generator<Sample> {
  const stack = callFrame.functionName === ROOT ? callers : [toFrame(callFrame), ...callers];
  if (selfSize > 0) yield {stack, values: [selfSize]};
  for (const child of children) yield* heapSamples(child, stack);
}

function toFrame({functionName, url, lineNumber}: Runtime.CallFrame): Frame {
  // Lines of a call frame start at 0; -1 is unknown.
  const line = lineNumber + 1;
  const file = url.startsWith('file://') ? fileURLToPath(url) : url;
  return {name: functionName === '' ? '(anonymous)' : functionName, file, startLine: line, line};
}

/** Converts names to a profile that counts each of them; a name is the only function of its stack. Pure. */
export function countNames(type: string, names: readonly string[], timeMs: number): PprofProfile {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const sampleType: ValueType = {type, unit: 'count'};
  const samples = [...counts].map(([name, count]) => ({
    stack: [{name, file: '', startLine: 0, line: 0}],
    values: [count],
  }));
  return {sampleTypes: [sampleType], samples, timeMs, durationMs: 0, periodType: sampleType, period: 1};
}
