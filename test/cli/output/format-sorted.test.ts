import {describe, expect, test} from 'vitest';
import {formatMessage, formatSorted} from '../../../src/cli/output/parse-output-format.js';
import {runtimeStatusJson} from '../../../src/features/inspect/inspect-json.js';

const STATUS = runtimeStatusJson({
  status: {conditions: []},
  info: {
    config: '{"limit": 9007199254740993, "share": 0.5, "tag": "<b>"}',
    golang: '"go1.26"',
    lastCNILoadStatus: 'OK',
    broken: '{not json',
  },
  runtimeHandlers: [],
  features: undefined,
});

describe('numbers beyond 2^53 in info', () => {
  test("are exact in kcri's JSON, YAML and templates", async () => {
    expect(await formatSorted({kind: 'json'}, STATUS)).toContain('"limit": 9007199254740993');
    expect(await formatSorted({kind: 'yaml'}, STATUS)).toContain('limit: 9007199254740993');
  });

  test("lose precision like crictl's if called as crictl", async () => {
    expect(await formatSorted({kind: 'json', encodesLikeGo: true}, STATUS)).toContain(
      '"limit": 9007199254740992',
    );
    expect(await formatSorted({kind: 'yaml', encodesLikeGo: true}, STATUS)).toContain(
      'limit: 9007199254740992',
    );
  });
});

test('JSON values of info are parsed, and other values are unquoted strings', () => {
  expect(STATUS).toMatchObject({
    config: {share: 0.5, tag: '<b>'},
    golang: 'go1.26',
    lastCNILoadStatus: 'OK',
    broken: '{not json',
  });
});

test("a field missing in crictl's CRI version is shown only if the runtime has set it", async () => {
  const mount = {containerPath: '/data', hostPath: '/tmp'};
  const text = async (mountOptions?: readonly string[]) =>
    await formatMessage({kind: 'json'}, 'ContainerStatus', {
      mounts: [{...mount, ...(mountOptions === undefined ? {} : {mountOptions})}],
    });
  expect(await text()).not.toContain('mountOptions');
  expect(await text(['noatime'])).toContain('"mountOptions": [\n        "noatime"');
});
