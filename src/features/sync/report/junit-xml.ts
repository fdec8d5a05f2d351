import type {ContainerStateTerminated} from '../../../api/types/v1-status.js';
import {messageOf} from '../../../base/errors.js';
import {PodError, type ForegroundSyncResult} from '../../../kubelet/index.js';
import {formatPodTitle} from '../../pods/pod-title.js';
import {isPendingReason} from '../view/pod-view.js';
import {describeCrash, describeExit, isBackingOff, lastExitOf} from '../container-exit.js';
import type {ContainerReport} from './container-reports.js';
import {countedAs} from '../sync-counts.js';
import {escapeXml, formatElement, type XmlElement} from '../../../format/xml/xml-element.js';

/** A synced pod: a test suite, of which each container is a test case. */
export interface PodReport {
  readonly result: ForegroundSyncResult;
  readonly containers: readonly ContainerReport[];
  /** Error that is reported for the pod; undefined if it met the wait condition. */
  readonly error: unknown;
}

/** Time of a sync. */
export interface JunitTime {
  readonly startedAtMs: number;
  readonly durationMs: number;
}

type Verdict = {readonly kind: 'passed'} | {readonly kind: 'skipped'} | Problem;

/** A failure, or that of an attempt after which the Job went on. */
interface Problem {
  readonly kind: 'failure' | 'error' | 'flakyFailure' | 'flakyError';
  readonly type: string;
  readonly message: string;
}

interface TestCase {
  readonly name: string;
  readonly durationMs: number;
  readonly verdict: Verdict;
  readonly output: readonly string[];
}

/**
 * Returns the results of a sync as JUnit XML in the dialect that Jenkins, GitLab and others read (junit-10.xsd of
 * Jenkins' xUnit plugin).
 */
export function formatJunit(pods: readonly PodReport[], time: JunitTime): string {
  const suites = pods.map((pod) => ({pod, cases: testCases(pod)}));
  const root: XmlElement = {
    name: 'testsuites',
    attributes: {
      name: 'kcri sync',
      ...counts(suites.flatMap(({cases}) => cases)),
      time: seconds(time.durationMs),
    },
    children: suites.map(({pod, cases}) => formatSuite(pod, cases, time)),
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${formatElement(root)}\n`;
}

function formatSuite(
  {result}: PodReport,
  cases: readonly TestCase[],
  {startedAtMs, durationMs}: JunitTime,
): XmlElement {
  const {namespace, name} = result.pod;
  const all = counts(cases);
  return {
    name: 'testsuite',
    attributes: {
      name: formatPodTitle(result.pod),
      ...all,
      skipped: String(cases.filter(({verdict}) => verdict.kind === 'skipped').length),
      time: seconds(durationMs),
      timestamp: new Date(startedAtMs).toISOString().slice(0, 19),
    },
    children: cases.map((testCase) => formatCase(testCase, `${namespace}.${name}`)),
  };
}

function formatCase({name, durationMs, verdict, output}: TestCase, classname: string): XmlElement {
  const text = output.join('\n');
  const children: XmlElement[] = [];
  if (verdict.kind === 'skipped') children.push({name: 'skipped'});
  if (isProblem(verdict)) {
    const {message, type} = verdict;
    // Many consumers show only the text of a failure.
    const shown = [message, ...(text === '' ? [] : ['', text])].join('\n');
    children.push({name: verdict.kind, attributes: {message, type}, text: escapeXml(shown)});
  }
  if (text !== '') children.push({name: 'system-out', text: escapeXml(text)});
  return {name: 'testcase', attributes: {name, classname, time: seconds(durationMs)}, children};
}

function counts(cases: readonly TestCase[]): Readonly<Record<'tests' | 'failures' | 'errors', string>> {
  const number = (kind: Verdict['kind']): string =>
    String(cases.filter(({verdict}) => verdict.kind === kind).length);
  return {tests: String(cases.length), failures: number('failure'), errors: number('error')};
}

function isProblem(verdict: Verdict): verdict is Problem {
  return verdict.kind !== 'passed' && verdict.kind !== 'skipped';
}

/**
 * Returns the verdict on an attempt of a Job that does not decide about it: readers count a failure as that of the run,
 * but not a flaky one.
 */
function ofRetried(verdict: Verdict): Verdict {
  switch (verdict.kind) {
    case 'failure':
      return {...verdict, kind: 'flakyFailure'};
    case 'error':
      return {...verdict, kind: 'flakyError'};
    default:
      return verdict;
  }
}

/** Returns a test case for each container; if none of an unsuccessful pod failed, another one has the pod's error. */
function testCases({result, containers, error}: PodReport): readonly TestCase[] {
  const passed = ['ready', 'complete'].includes(countedAs(result));
  const cases = containers.map(({status, isInit, durationMs = 0, output}): TestCase => ({
    name: isInit ? `init ${status.name}` : status.name,
    durationMs,
    verdict: verdictOf(status, {result, passed, isInit}),
    output,
  }));
  if (result.isRetried === true) return cases.map((each) => ({...each, verdict: ofRetried(each.verdict)}));
  if (passed || cases.some(({verdict}) => isProblem(verdict))) return cases;
  const message = error instanceof PodError ? error.problem : messageOf(error);
  const verdict = {kind: 'error', type: asReason(result.kind), message} as const;
  return [...cases, {name: 'pod', durationMs: 0, verdict, output: []}];
}

/** Spells the kind of a result like the reasons of containers: `Timeout`. */
function asReason(kind: string): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
}

interface VerdictContext {
  readonly result: ForegroundSyncResult;
  readonly passed: boolean;
  readonly isInit: boolean;
}

function verdictOf(status: ContainerReport['status'], context: VerdictContext): Verdict {
  const exit = lastExitOf(status);
  const {waiting, running} = status.state ?? {};
  if (exit !== undefined) return exitVerdict(exit, status);
  if (running !== undefined) return runningVerdict(status, context);
  const {reason = '', message = ''} = waiting ?? {};
  if (isPendingReason(reason)) return {kind: 'skipped'};
  return {kind: 'error', type: reason, message: message === '' ? reason : `${reason}: ${message}`};
}

function exitVerdict(exit: ContainerStateTerminated, status: ContainerReport['status']): Verdict {
  if (exit.exitCode === 0 && !isBackingOff(status)) return {kind: 'passed'};
  const message = describeCrash(status) ?? describeExit(exit);
  return {kind: 'failure', type: exit.reason ?? 'Error', message};
}

/** Returns the verdict on a running container: it may be what the sync waits for, or what it waited for in vain. */
function runningVerdict({ready}: ContainerReport['status'], context: VerdictContext): Verdict {
  const {result, passed, isInit} = context;
  if (passed || (ready && !isInit && result.kind !== 'timeout' && result.kind !== 'interrupted'))
    return {kind: 'passed'};
  if (result.kind === 'timeout') {
    const state = ready ? 'still running' : 'running, not ready';
    return {kind: 'failure', type: 'Timeout', message: `${state} at the time limit`};
  }
  return {kind: 'skipped'};
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
