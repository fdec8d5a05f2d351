import {expect, test} from 'vitest';
import {differencesText} from '../../../src/features/record/replay/replay-report.js';

const read = (call: number, paths: readonly string[]) =>
  ({
    call,
    pod: 'web',
    method: 'ContainerStatus',
    object: '<C:web/main/0>',
    kind: 'different',
    fields: paths.map((path) => ({path, a: 1, b: 2})),
  }) as const;

test('what differs in every read of an object is shown once, and counted', () => {
  const text = differencesText([read(1, ['user']), read(2, ['user', 'state']), read(3, ['user'])]);
  expect(text).toBe(
    [
      ...['~ web ContainerStatus <C:web/main/0> (call 1, and 2 more)', '    user', '      - 1', '      + 2'],
      ...['~ web ContainerStatus <C:web/main/0> (call 2)', '    state', '      - 1', '      + 2', ''],
    ].join('\n'),
  );
});

test('the same difference of another pod is another one', () => {
  const other = {...read(2, ['user']), pod: 'other'};
  expect(differencesText([read(1, ['user']), other]).match(/^~/gm)).toHaveLength(2);
});

test('equal members of two containers without an identity in the path are both shown', () => {
  const other = {...read(2, ['user']), object: '<C:web/side/0>'};
  expect(differencesText([read(1, ['user']), other]).match(/^~/gm)).toHaveLength(2);
});
