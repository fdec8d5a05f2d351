import {describe, test} from 'vitest';
import {FAKE_RUNTIME_USAGE, parseFakeRuntimeArgs} from './fake-runtime-args.js';

describe('the command line of the fake runtime', () => {
  test('no flags select an empty runtime', ({expect}) => {
    expect(parseFakeRuntimeArgs([])).toEqual({
      help: false,
      profile: undefined,
      socketPath: undefined,
      pods: undefined,
      containers: 0,
      images: 0,
      errors: [],
      delays: [],
    });
  });

  test('all flags are parsed, and errors and delays can be repeated', ({expect}) => {
    const argv =
      '--profile cri-o --socket /run/x.sock --pods 2 --containers 5 --images 3 --error Version=internal --error PullImage=NOT_FOUND --delay Status=20';
    expect(parseFakeRuntimeArgs(argv.split(' '))).toEqual({
      help: false,
      profile: 'cri-o',
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
    [
      '--profile=podman',
      '--profile must be one of containerd-1.6, containerd-1.7, containerd-2, cri-o, cri-dockerd, not "podman"',
    ],
    ['--pods=-1', '--pods must be a whole number, not "-1"'],
    ['--containers=1e9', '--containers must be a whole number, not "1e9"'],
    ['--error=Version', '--error needs METHOD=VALUE, not "Version"'],
    ['--error=Foo=NOT_FOUND', '--error must name a CRI method such as RunPodSandbox, not "Foo"'],
    ['--error=Version=OK', '--error must name a gRPC error code such as NOT_FOUND, not "OK"'],
    ['--delay=Version=soon', '--delay must be a whole number, not "soon"'],
  ] as const)('%s is rejected', ([flag, message], {expect}) => {
    expect(() => parseFakeRuntimeArgs([flag])).toThrow(message);
  });

  test('the help contains every flag', ({expect}) => {
    const flags = [
      '--profile',
      '--socket',
      '--pods',
      '--containers',
      '--images',
      '--error',
      '--delay',
      '--help',
    ];
    expect(flags.filter((flag) => !FAKE_RUNTIME_USAGE.includes(flag))).toEqual([]);
  });
});
