import type {ResolveBehaviour, ResolveExec} from '../../fakes/runtime/container-behaviour.js';
import {goldenBehaviour, goldenExec} from '../golden-behaviour.js';

/** Returns the behavior of a container of the recorded cases with an API server. */
export const apiBehaviour: ResolveBehaviour = (config, argv) => {
  const line = argv.join(' ');
  if (line.includes("trap '' TERM")) return {ignoresStop: true};
  // It succeeds when its volume has the file of the first attempt.
  if (line.includes('if [ -e /d/x ]'))
    return config.metadata?.attempt === 0 ? {exitCode: 1, runForMs: 1000} : {onStop: {exitCode: 0}};
  // The first process of a container ignores signals by default.
  const [, seconds, exitCode] = /^sh -c sleep (\d+)(?:; exit (\d+))?$/.exec(line) ?? [];
  if (seconds !== undefined)
    return {exitCode: Number(exitCode ?? 0), runForMs: Number(seconds) * 1000, ignoresStop: true};
  return /^sh -c (while :|.*exec httpd)/.test(line) ? {ignoresStop: true} : goldenBehaviour(config, argv);
};

/** Returns the results of probes for files that a process in the background creates and removes. */
export const apiExec: ResolveExec = (argv, config, ranForMs) => {
  const line = argv.join(' ');
  const [, path] = /^sh -c test -e (\S+)$/.exec(line) ?? [];
  if (path === undefined)
    return line === 'sh -c echo no; exit 1'
      ? {stdout: 'no\n', exitCode: 1}
      : goldenExec(argv, config, ranForMs);
  const [background = ''] = (config.command.at(-1) ?? '').split('&');
  const command = [background.replace(/[()]/g, '')];
  return goldenExec(['test', '-f', path], {...config, command}, ranForMs);
};
