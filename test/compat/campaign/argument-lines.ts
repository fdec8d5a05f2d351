import type {GrpcCode} from '../../../src/cri/errors.js';
import type {Rpc} from '../../fakes/runtime/cri-messages.js';
import type {Case} from '../cases.js';
import type {Values} from './values.js';

const NEW = 'localhost:5000/new:1';
const CREATE = ['{web}', '{DIR}/container.json', '{DIR}/web.json'];

/** Returns command lines with arguments, and with values that one command or few have. */
export function argumentLines(values: Values): readonly Case[] {
  const lines = (command: string, each: readonly string[], options: Case[1] & object): readonly Case[] =>
    each.map((line): Case => [[command, ...line.split('|')], options]);
  return [
    ...values.times.flatMap((value): readonly Case[] => [
      [['logs', '--since', value, '{nginx}'], {}],
      [['logs', `--since=${value}`, '-t', '--tail', '1', '{sidecar}'], {}],
    ]),
    ...images(values),
    ...credentials(values),
    ...values.ports.flatMap((value): readonly Case[] => [
      [['port-forward', 'nothing', value], {}],
      [['port-forward', '-r', 'websocket', '{job}', value], {}],
      [['port-forward', '{web}', value, value], {}],
    ]),
    ...lines('exec', values.execs, {unordered: true}),
    ...lines('attach', values.attaches, {}),
    ...lines('events', values.events, {fault: ['GetContainerEvents', 'UNAVAILABLE']}),
    ...lines('completion', values.completions, {}),
    ...values.schemas.flatMap((line) => ['create', 'run', 'runp', 'pull'].map((name) => `${name} ${line}`)),
    ...['', '10.0.0.0/8', 'x', '10.0.0.0/8,fd00::/64', ' '].flatMap((value): readonly Case[] => [
      [['update-runtime-config', '-p', value], {}],
      [['update-runtime-config', `--pod-cidr=${value}`, 'x'], {}],
    ]),
    ...values.codes.flatMap((code) =>
      values.faults.map(([line, rpc]): Case => [line, {fault: [rpc as Rpc, code as GrpcCode]}]),
    ),
  ];
}

function images({images: filters, names}: Values): readonly Case[] {
  return [
    ...filters.flatMap((value): readonly Case[] => [
      [['images', '-q', '-f', value], {}],
      [['images', '-f', value, '-o', 'json'], {}],
      [['inspecti', '-q', '-f', value], {}],
    ]),
    ...names.flatMap((value): readonly Case[] => [
      [['images', value], {}],
      [['inspecti', '-q', value], {}],
      [['rmi', value], {}],
      [['pull', value], {}],
      [['images', '-q', value, 'x'], {}],
    ]),
  ];
}

function credentials({creds, auths}: Values): readonly Case[] {
  return [
    ...creds.flatMap((value): readonly Case[] => [
      [['pull', '--creds', value, NEW], {}],
      [['run', '--creds', value, '{DIR}/container.json', '{DIR}/pod.json'], {}],
      [`pull ${NEW}`, {env: {CRICTL_CREDS: value}}],
    ]),
    ...auths.flatMap((value): readonly Case[] => [
      [['pull', '--auth', value, NEW], {}],
      [['create', '--with-pull', '--auth', value, ...CREATE], {}],
      [`pull ${NEW}`, {env: {CRICTL_AUTH: value}}],
    ]),
    ...['u', '', 'u:p', ' '].flatMap((value): readonly Case[] => [
      [['pull', '-u', value, NEW], {}],
      [['pull', '-u', value, '--creds', 'a:b', NEW], {}],
      [['pull', '-u', value, '--auth', 'dTpw', NEW], {}],
    ]),
  ];
}
