import {describe, test} from 'vitest';
import {FAKE_RUNTIME_USAGE, parseFakeRuntimeArgs} from './fake-runtime-args.js';

describe('the command line of the fake runtime', () => {
  test('no flags ask for an empty runtime', ({expect}) => {
    expect(parseFakeRuntimeArgs([])).toEqual({
      help: false,
      socketPath: undefined,
      pods: undefined,
      containers: 0,
      images: 0,
      errors: [],
      delays: [],
    });
  });

  test('every flag is read, and errors and delays may be many', ({expect}) => {
    const argv =
      '--socket /run/x.sock --pods 2 --containers 5 --images 3 --error Version=internal --error PullImage=NOT_FOUND --delay Status=20';
    expect(parseFakeRuntimeArgs(argv.split(' '))).toEqual({
      help: false,
      socketPath: '/run/x.sock',
      pods: 2,
      containers: 5,
      images: 3,
      errors: [
        {rpc: 'Version', code: 'INTERNAL'},
        {rpc: 'PullImage', code: 'NOT_FOUND'},
      ],
      delays: [{rpc: 'Status', ms: 20}],
    });
  });

  test.for([
    ['--bogus', "Unknown option '--bogus'"],
    ['--pods=-1', '--pods needs a whole number, not "-1"'],
    ['--containers=1e9', '--containers needs a whole number, not "1e9"'],
    ['--error=Version', '--error needs METHOD=VALUE, not "Version"'],
    ['--error=Foo=NOT_FOUND', '--error names "Foo", which is no CRI method (such as RunPodSandbox)'],
    ['--error=Version=OK', '--error names "OK", which is no gRPC error code (such as NOT_FOUND)'],
    ['--delay=Version=soon', '--delay needs a whole number, not "soon"'],
  ] as const)('%s is refused', ([flag, message], {expect}) => {
    expect(() => parseFakeRuntimeArgs([flag])).toThrow(message);
  });

  test('the help names every flag', ({expect}) => {
    const flags = ['--socket', '--pods', '--containers', '--images', '--error', '--delay', '--help'];
    expect(flags.filter((flag) => !FAKE_RUNTIME_USAGE.includes(flag))).toEqual([]);
  });
});
