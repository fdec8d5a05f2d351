import {describe, expect, test} from 'vitest';
import {CriError} from '../../src/cri/index.js';
import {formatKlogJson, formatKlogText, type LogRecord} from '../../src/format/klog.js';

const record = (overrides: Partial<LogRecord>): LogRecord => ({
  severity: 'info',
  time: new Date(2026, 10, 20, 12, 34, 56, 789).getTime(),
  pid: 4711,
  caller: 'kubelet/kubelet.js:12',
  message: 'Event occurred',
  fields: {},
  verbosity: 0,
  ...overrides,
});
const values = (fields: LogRecord['fields']): string =>
  formatKlogText(record({fields})).replace(/^.*"Event occurred" /s, '');

describe('a line of text', () => {
  test('names the RPC and the endpoint of a failed call', () => {
    const failure = {
      method: 'Status',
      endpoint: 'unix:///r.sock',
      grpcCode: 'INTERNAL',
      details: 'no',
    } as const;
    const failed = record({severity: 'error', error: new CriError(failure)});
    expect(formatKlogText(failed)).toContain(
      '"Event occurred" err="rpc error: code = Internal desc = no" rpc="Status" endpoint="unix:///r.sock"\n',
    );
    expect(JSON.parse(formatKlogJson(failed))).toMatchObject({rpc: 'Status', endpoint: 'unix:///r.sock'});
    const wrapped = record({error: new Error('starting', {cause: new CriError(failure)})});
    expect(formatKlogText(wrapped)).toContain('err="starting" rpc="Status" endpoint="unix:///r.sock"\n');
  });

  test('starts with severity, local time, process ID and source position', () => {
    expect(formatKlogText(record({}))).toBe(
      'I1120 12:34:56.789000    4711 kubelet.js:12] "Event occurred"\n',
    );
    expect(formatKlogText(record({severity: 'error', pid: 12345678}))).toBe(
      'E1120 12:34:56.789000 12345678 kubelet.js:12] "Event occurred"\n',
    );
  });

  test('equals the kubelet’s for an event', () => {
    const fields = {
      object: 'default/web-n1',
      fieldPath: 'spec.containers{main}',
      kind: 'Pod',
      apiVersion: 'v1',
      type: 'Normal',
      reason: 'Pulled',
      message: 'Container image "busybox" already present on machine',
    };
    expect(values(fields)).toBe(
      'object="default/web-n1" fieldPath="spec.containers{main}" kind="Pod" apiVersion="v1" type="Normal" reason="Pulled" message="Container image \\"busybox\\" already present on machine"\n',
    );
  });

  test('has the error before all fields if there is one', () => {
    const line = formatKlogText(
      record({severity: 'error', error: new Error('is "down"'), fields: {pod: 'a/b'}}),
    );
    expect(line).toContain('] "Event occurred" err="is \\"down\\"" pod="a/b"\n');
    expect(formatKlogText(record({severity: 'error', fields: {pod: 'a/b'}}))).not.toContain('err=');
  });

  test.each([
    ['a string', 'a\tb\u0007', '"a\\tb\\a"'],
    ['a number', 42, '42'],
    ['a large number', 12345678901n, '12345678901'],
    ['a boolean', true, 'true'],
    ['nothing', undefined, 'null'],
    ['an error', new Error('gone'), '"gone"'],
    ['strings', ['default/web', 'default/db'], '["default/web","default/db"]'],
    [
      'an object',
      {ID: 'uid', Type: 'ContainerStarted', Data: '4f'},
      '{"ID":"uid","Type":"ContainerStarted","Data":"4f"}',
    ],
    ['characters that Go escapes in JSON', ['<&>\u2028'], '["\\u003c\\u0026\\u003e\\u2028"]'],
    ['several lines', 'one\ntwo', '<\n\tone\n\ttwo\n >'],
    ['several lines with an end', 'one\ntwo\n', '<\n\tone\n\ttwo\n >'],
    ['an empty last line', 'one\n\n', '<\n\tone\n\t\n >'],
  ])('formats %s', (_, value, shown) => {
    expect(values({key: value})).toBe(`key=${shown}\n`);
  });

  test('reports values that cannot be formatted', () => {
    const loop: unknown[] = [];
    loop.push(loop);
    expect(values({loop})).toMatch(/^loop="\\u003cinternal error: /);
  });
});

describe('a line of JSON', () => {
  test('of an info message has its verbosity before the fields', () => {
    const time = 1_726_823_442_297;
    expect(formatKlogJson(record({time, verbosity: 2, fields: {pods: ['a/b'], count: 3n}}))).toBe(
      '{"ts":1726823442297,"caller":"kubelet/kubelet.js:12","msg":"Event occurred","v":2,"pods":["a/b"],"count":3}\n',
    );
  });

  test('of an error has the error at the end', () => {
    expect(
      formatKlogJson(record({time: 1, severity: 'error', error: new Error('x'), fields: {pod: 'a/b'}})),
    ).toBe('{"ts":1,"caller":"kubelet/kubelet.js:12","msg":"Event occurred","pod":"a/b","err":"x"}\n');
  });
});
