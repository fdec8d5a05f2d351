import {expect, test} from 'vitest';
import {mayPass} from '../../../src/recording/replay/compare-answers.js';

test.each([
  ['resp.status.state', true],
  ['resp.containers.<C:web.v1/main/0>.finishedAt', true],
  ['resp.containers.<C:web.v1/main/0>', true],
  ['resp.status.network.ip', true],
  ['resp.items', true],
  ['resp.containers.<C:web/main/0>.image.userSpecifiedImage', false],
  ['resp.status.linux.namespaces.options.usernsOptions', false],
])('a difference in %s may pass: %s', (path, expected) => {
  const about = {pod: 'web', method: 'ContainerStatus', object: '', kind: 'different'} as const;
  expect(mayPass({...about, fields: [{path, a: 1, b: 2}]})).toBe(expected);
});

test('a method that one runtime does not have does not get there', () => {
  const about = {pod: '', method: 'RuntimeConfig', object: '', kind: 'different'} as const;
  const code = (a: string, b: string) => ({...about, fields: [{path: 'code', a, b}]});
  expect(mayPass(code('UNIMPLEMENTED', 'OK'))).toBe(false);
  expect(mayPass(code('OK', 'UNIMPLEMENTED'))).toBe(false);
  expect(mayPass(code('OK', 'NOT_FOUND'))).toBe(true);
});
