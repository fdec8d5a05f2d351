import {parseArgs, type ParseArgsConfig} from 'node:util';
import {status} from '@grpc/grpc-js';
import {IMAGE_METHODS, RUNTIME_METHODS} from '../../../src/cri/gen/services.js';
import type {GrpcCode} from '../../../src/cri/errors.js';
import type {Rpc} from './cri-messages.js';
import {isProfileName, PROFILES, type ProfileName} from './profiles/profiles.js';

/** Help text of `npm run fake-runtime`. */
export const FAKE_RUNTIME_USAGE = `Starts a fake CRI runtime by hand: a gRPC server that behaves like a container runtime and runs nothing.

Usage: npm run fake-runtime -- [--profile NAME] [--socket PATH] [--pods N] [--containers N] [--images N]
                               [--error METHOD=CODE]... [--delay METHOD=MS]...

  --profile NAME       imitate a runtime: ${Object.keys(PROFILES).join(', ')}
  --socket PATH        where to listen (default: a new directory in the temporary directory)
  --pods N             begin with N ready pods (default: half as many as containers)
  --containers N       begin with N running containers, spread over the pods
  --images N           begin with N images beside busybox
  --error METHOD=CODE  every call of METHOD fails, such as PullImage=UNAVAILABLE
  --delay METHOD=MS    every call of METHOD takes MS milliseconds, such as ListContainers=2000
  --help               this text

The endpoint is the one line on stdout. Ctrl-C ends it and removes the socket.
`;

/** Parsed command line. */
export interface FakeRuntimeArgs {
  readonly help: boolean;
  readonly profile: ProfileName | undefined;
  readonly socketPath: string | undefined;
  readonly pods: number | undefined;
  readonly containers: number;
  readonly images: number;
  readonly errors: readonly {readonly rpc: Rpc; readonly code: GrpcCode}[];
  readonly delays: readonly {readonly rpc: Rpc; readonly ms: number}[];
}

const OPTIONS = {
  help: {type: 'boolean'},
  profile: {type: 'string'},
  socket: {type: 'string'},
  pods: {type: 'string'},
  containers: {type: 'string'},
  images: {type: 'string'},
  error: {type: 'string', multiple: true},
  delay: {type: 'string', multiple: true},
} as const satisfies ParseArgsConfig['options'];

const RPCS = new Set<string>(
  [...Object.values(RUNTIME_METHODS), ...Object.values(IMAGE_METHODS)].map(({rpc}) => rpc),
);

/** Parses the command line. Throws an Error with one line for an unknown flag or an invalid value. */
export function parseFakeRuntimeArgs(argv: readonly string[]): FakeRuntimeArgs {
  const {values} = parseArgs({args: [...argv], options: OPTIONS});
  return {
    help: values.help ?? false,
    profile: values.profile === undefined ? undefined : profileName(values.profile),
    socketPath: values.socket,
    pods: values.pods === undefined ? undefined : count('--pods', values.pods),
    containers: count('--containers', values.containers ?? '0'),
    images: count('--images', values.images ?? '0'),
    errors: (values.error ?? []).map((text) => {
      const [rpc, code] = assignment('--error', text);
      return {rpc, code: grpcCode(code)};
    }),
    delays: (values.delay ?? []).map((text) => {
      const [rpc, ms] = assignment('--delay', text);
      return {rpc, ms: count('--delay', ms)};
    }),
  };
}

function profileName(text: string): ProfileName {
  if (isProfileName(text)) return text;
  throw new Error(`--profile must be one of ${Object.keys(PROFILES).join(', ')}, not "${text}"`);
}

function count(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${flag} must be a whole number, not "${text}"`);
  return Number(text);
}

function assignment(flag: string, text: string): [Rpc, string] {
  const [rpc = '', value] = text.split('=', 2);
  if (value === undefined || value === '') throw new Error(`${flag} needs METHOD=VALUE, not "${text}"`);
  if (!isRpc(rpc)) throw new Error(`${flag} must name a CRI method such as RunPodSandbox, not "${rpc}"`);
  return [rpc, value];
}

function isRpc(name: string): name is Rpc {
  return RPCS.has(name);
}

function grpcCode(text: string): GrpcCode {
  const name = text.toUpperCase();
  if (name === 'OK' || !/^[A-Z_]+$/.test(name) || !Object.hasOwn(status, name))
    throw new Error(`--error must name a gRPC error code such as NOT_FOUND, not "${text}"`);
  return name as GrpcCode;
}
