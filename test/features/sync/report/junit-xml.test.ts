import {describe, expect, test} from 'vitest';
import type {ContainerStatus} from '../../../../src/api/types/v1-status.js';
import type {ContainerReport} from '../../../../src/features/sync/report/container-reports.js';
import {formatJunit, type PodReport} from '../../../../src/features/sync/report/junit-xml.js';
import {escapeXml, formatElement} from '../../../../src/format/xml/xml-element.js';
import {podUid} from '../../../../src/cri/index.js';
import {PodError, type ForegroundSyncResult} from '../../../../src/kubelet/index.js';
import {aContainerStatus} from '../../../fakes/a-pod.js';

const POD = {namespace: 'ci', name: 'unit', uid: podUid('u1')};
const TIME = {startedAtMs: Date.parse('2026-11-20T14:00:00Z'), durationMs: 12_345};
const common = {pod: POD, status: undefined, hadEnded: false};

function aReport(status: Partial<ContainerStatus>, more: Partial<ContainerReport> = {}): ContainerReport {
  const output: readonly string[] = [];
  return {status: aContainerStatus(status), isInit: false, durationMs: 1500, output, ...more};
}

const format = (...pods: readonly PodReport[]): string => formatJunit(pods, TIME);
const complete = (exitCode: number): ForegroundSyncResult => ({
  ...common,
  kind: 'complete',
  exitCode,
  container: exitCode === 0 ? undefined : 'main',
});
const timeout: ForegroundSyncResult = {...common, kind: 'timeout', error: undefined};

describe('JUnit XML', () => {
  test('has a suite for a pod and a case for each container', () => {
    const containers = [
      aReport({name: 'setup', state: {terminated: {exitCode: 0}}}, {isInit: true, output: ['ready']}),
      aReport(
        {name: 'main', state: {terminated: {exitCode: 3, reason: 'Error'}}},
        {output: ['a < b', '\u001b[31mred']},
      ),
      aReport({name: 'late', state: {waiting: {reason: 'PodInitializing'}}}, {durationMs: undefined}),
    ];
    expect(format({result: complete(3), containers, error: undefined})).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="kcri sync" tests="3" failures="1" errors="0" time="12.345">
  <testsuite name="ci/unit" tests="3" failures="1" errors="0" skipped="1" time="12.345" timestamp="2026-11-20T14:00:00">
    <testcase name="init setup" classname="ci.unit" time="1.500">
      <system-out>ready</system-out>
    </testcase>
    <testcase name="main" classname="ci.unit" time="1.500">
      <failure message="exited with code 3 (Error)" type="Error">exited with code 3 (Error)

a &lt; b
\\x1b[31mred</failure>
      <system-out>a &lt; b
\\x1b[31mred</system-out>
    </testcase>
    <testcase name="late" classname="ci.unit" time="0.000">
      <skipped/>
    </testcase>
  </testsuite>
</testsuites>
`,
    );
  });

  test.each([
    [
      'a crash loop',
      {
        state: {waiting: {reason: 'CrashLoopBackOff'}},
        lastState: {terminated: {exitCode: 137, reason: 'OOMKilled'}},
        restartCount: 2,
      },
      timeout,
      '<failure message="exited with code 137 (OOMKilled), restarted 2 times" type="OOMKilled">',
    ],
    ['a container that still runs', {state: {running: {}}, ready: true}, timeout, 'type="Timeout"'],
    [
      'an image that cannot be pulled',
      {state: {waiting: {reason: 'ErrImagePull', message: 'not found'}}},
      {...common, kind: 'failed', error: new Error('no'), removed: true} as const,
      '<error message="ErrImagePull: not found" type="ErrImagePull">',
    ],
  ])('shows %s', (_, status, result, text) => {
    const xml = format({result, containers: [aReport(status)], error: undefined});
    expect(xml).toContain(text);
    expect(xml.match(/<testcase /g)).toHaveLength(1);
  });

  test('has another case if no container shows why the pod failed', () => {
    const error = new PodError(POD, 'OutOfcpu: Pod was rejected: "no" & done');
    const result = {...common, kind: 'failed', error, removed: false} as const;
    expect(format({result, containers: [], error})).toContain(
      '<testcase name="pod" classname="ci.unit" time="0.000">\n' +
        '      <error message="OutOfcpu: Pod was rejected: &quot;no&quot; &amp; done" type="Failed">',
    );
  });

  test('names the time limit if it ended before a container started', () => {
    const containers = [aReport({state: {waiting: {reason: 'ContainerCreating'}}})];
    expect(format({result: timeout, containers, error: new Error('not complete after 2s')})).toContain(
      '<error message="not complete after 2s" type="Timeout">',
    );
  });

  test('has every attempt of a Job, and counts the failure of a repeated one as flaky', () => {
    const failed = aReport(
      {name: 'main', state: {terminated: {exitCode: 3, reason: 'Error'}}},
      {output: ['no']},
    );
    const passed = aReport({name: 'main', state: {terminated: {exitCode: 0}}});
    const missing = aReport({name: 'side', state: {waiting: {reason: 'ErrImagePull'}}});
    const xml = format(
      {result: {...complete(3), isRetried: true}, containers: [failed, missing], error: undefined},
      {result: complete(0), containers: [passed], error: undefined},
    );
    expect(xml).toContain('<testsuites name="kcri sync" tests="3" failures="0" errors="0"');
    expect(xml.match(/<testsuite /g)).toHaveLength(2);
    expect(xml).toContain('<flakyFailure message="exited with code 3 (Error)" type="Error">');
    expect(xml).toContain('<flakyError message="ErrImagePull" type="ErrImagePull">');
  });

  test('has no other case for an attempt that a Job has stopped', () => {
    const result = {...common, kind: 'interrupted', reason: undefined, isRetried: true} as const;
    const running = aReport({name: 'main', state: {running: {}}});
    const xml = format({result, containers: [running], error: new Error('interrupted')});
    expect(xml).toContain('tests="1" failures="0" errors="0" skipped="1"');
  });

  test('has no failure for ready pods', () => {
    const result: ForegroundSyncResult = {...common, kind: 'ready'};
    const containers = [aReport({state: {running: {}}, ready: true})];
    expect(format({result, containers, error: undefined})).toContain('tests="1" failures="0" errors="0"');
  });
});

test.each([
  ['\0\u0008\u000b\u001f\u007f\u0085', '\\x00\\x08\\x0b\\x1f\\x7f\\x85'],
  ['\ufffe\uffff\ud800', '\\ufffe\\uffff\\ud800'],
  ['tab\tline\nend\r', 'tab\tline\nend&#13;'],
  [']]> & 😀', ']]&gt; &amp; 😀'],
])('%j is escaped as %j', (text, escaped) => {
  expect(escapeXml(text)).toBe(escaped);
});

test('line breaks and tabs of an attribute are kept', () => {
  expect(formatElement({name: 'a', attributes: {b: 'x\ny\tz'}})).toBe('<a b="x&#10;y&#9;z"/>');
});
