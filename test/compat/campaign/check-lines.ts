import {readFileSync} from 'node:fs';
import type {Rpc} from '../../fakes/runtime/cri-messages.js';
import type {Case} from '../cases.js';
import type {HelpFlags} from '../help-flags.js';
import type {Values} from './values.js';

/** RPCs of the connection, in which Ctrl-C kills crictl before it handles signals. */
const CONNECTING = /^(Version|ImageFsInfo|GetContainerEvents)$/;

/** Returns command lines with each flag that crictl's help lists, and lines that are interrupted or have two faults. */
export function checkLines(values: Values): readonly Case[] {
  return [
    ...listedFlags(),
    ...values.faults
      .filter(([, rpc]) => !CONNECTING.test(rpc))
      .map(([line, rpc]): Case => [line, {delay: [rpc as Rpc, 5000], interrupted: true}]),
    ...values.wrongLines.flatMap((line): readonly Case[] => [
      [['--max-retries', '0', '-r', '/nowhere/cri.sock', ...line.split('|')], {}],
      [line.split('|'), {fault: ['Version', 'UNAVAILABLE']}],
      [['-c', '{DIR}/unknown.yaml', ...line.split('|')], {}],
      [['-t', '0', ...line.split('|')], {unordered: true}],
    ]),
    ...configChanges(values),
  ];
}

/** Returns command lines that give each flag alone, and before `--help`. Called in the project's directory. */
function listedFlags(): readonly Case[] {
  const all = JSON.parse(readFileSync('test/compat/help-flags.json', 'utf8')) as HelpFlags;
  return Object.entries(all).flatMap(([command, flags]) =>
    flags
      .filter((flag) => !/^(-w|--watch|-f|--follow|-i|-it?|-t)$/.test(flag))
      .flatMap((flag): readonly Case[] => [
        [[...command.split(' '), flag, '--help'], {}],
        [[...command.split(' '), `${flag}=`], {}],
      ]),
  );
}

/** Returns command lines that change config files of many forms with many values. */
function configChanges({assignments, crictlTexts}: Values): readonly Case[] {
  const env = {CRI_CONFIG_FILE: undefined};
  const config = ['-c', '{DIR}/given', 'config'];
  return [
    ...assignments.flatMap((value, at): readonly Case[] => [
      [[...config, '--set', value], {env, shows: 'file'}],
      [[...config, '--set', value], {env, shows: 'file', given: crictlTexts[at % crictlTexts.length] ?? ''}],
    ]),
    ...crictlTexts.flatMap((given): readonly Case[] => [
      [[...config, '--set', 'timeout=9,runtime-endpoint=x'], {env, shows: 'file', given}],
      [[...config, '--get', 'runtime-endpoint'], {env, shows: 'file', given}],
      [[...config, 'image-endpoint', 'a b'], {env, shows: 'file', given}],
    ]),
  ];
}
