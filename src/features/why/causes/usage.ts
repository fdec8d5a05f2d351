import type {Finding} from '../finding.js';
import {describeAdvice, sizeText, titleOf, type ContainerSubject} from './subject.js';

/** Share of periods from which throttling is noticed, and the number of periods that it takes to judge. */
const THROTTLED = 0.25;
const MIN_PERIODS = 50;
/** Share of the memory limit that is close to it. */
const CLOSE = 0.9;

/** Notices a container that its CPU limit slows down. */
export function noticeThrottling(subject: ContainerSubject): Finding | undefined {
  const {cpu} = subject.facts;
  if (cpu === undefined || cpu.periods < MIN_PERIODS) return undefined;
  const share = cpu.throttledPeriods / cpu.periods;
  if (share < THROTTLED) return undefined;
  const limit = subject.spec?.resources?.limits?.['cpu'];
  return {
    rule: 'cpu-throttled',
    severity: 'warning',
    container: subject.name,
    cause: `${titleOf(subject)} is slowed down by its CPU limit${limit === undefined ? '' : ` of ${limit}`} in ${Math.round(share * 100)}% of the periods`,
    evidence: [`${cpu.throttledPeriods} of ${cpu.periods} periods throttled since its start`],
    tries: ['raise or remove resources.limits.cpu'],
  };
}

/** Notices a container that is about to be killed for memory. */
export function noticeMemory(subject: ContainerSubject): Finding | undefined {
  const {memory} = subject.facts;
  if (memory === undefined || memory.workingSet < memory.limit * CLOSE) return undefined;
  const {workingSet, limit, peak} = memory;
  return {
    rule: 'memory-close-to-limit',
    severity: 'warning',
    container: subject.name,
    cause: `${titleOf(subject)} uses ${Math.round((workingSet / limit) * 100)}% of its memory limit of ${sizeText(limit)}`,
    evidence: [
      `working set ${sizeText(workingSet)}`,
      ...(peak === undefined ? [] : [`peak ${sizeText(peak)}, file cache included`]),
    ],
    next: 'if it needs more, the kernel kills a process of it',
    tries: ['raise resources.limits.memory', describeAdvice(subject.snapshot)],
  };
}
