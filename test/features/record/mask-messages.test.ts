import {expect, test} from 'vitest';
import {createMessageMask} from '../../../src/features/record/mask-messages.js';

/** Response of ContainerStatus with verbose information as of containerd. */
const VERBOSE = {
  info: {
    info: JSON.stringify({
      config: {envs: [{key: 'MODE', value: 'plain'}]},
      runtimeSpec: {process: {args: ['x=y'], env: ['MODE=plain', 'TERM=a=b', 'EMPTY']}},
    }),
    broken: '{"env": ["MODE=plain"',
    text: 'no JSON',
  },
};

test('with --mask-env, variables in verbose information are masked', () => {
  const mask = createMessageMask({env: true, keepOutput: false});
  const {info} = mask.message('ContainerStatus', 'server', VERBOSE) as typeof VERBOSE;
  expect(JSON.parse(info.info)).toEqual({
    config: {envs: [{key: 'MODE', value: '***'}]},
    runtimeSpec: {process: {args: ['x=y'], env: ['MODE=***', 'TERM=***', 'EMPTY']}},
  });
  expect([info.broken, info.text]).toEqual(['***', 'no JSON']);
});

test('with --mask-env, variables in verbose information that is truncated are masked', () => {
  const env = Array.from({length: 20_000}, (_, index) => `NAME${index}=hidden`);
  const mask = createMessageMask({env: true, keepOutput: false});
  const text = JSON.stringify(
    mask.message('ImageStatus', 'server', {info: {info: JSON.stringify({Env: env})}}),
  );
  expect(text).toContain('more characters');
  expect(text).not.toContain('hidden');
});

test('without it, only those whose names resemble a secret are', () => {
  const mask = createMessageMask({env: false, keepOutput: false});
  const info = {info: JSON.stringify({env: ['MODE=plain', 'DB_PASSWORD=hidden']})};
  expect(mask.message('ContainerStatus', 'server', {info})).toEqual({
    info: {info: JSON.stringify({env: ['MODE=plain', 'DB_PASSWORD=***']})},
  });
});
