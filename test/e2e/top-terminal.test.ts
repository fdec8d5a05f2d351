import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../base/until.js';
import {aContainer, aManifest} from './harness/manifests.js';
import {startPodGround, type PodGround} from './harness/pod-ground.js';
import {KCRI_COMMAND} from '../kcri-command.js';
import {runtimes} from './harness/runtimes.js';
import {Terminal} from './harness/terminal.js';

describe.each(runtimes)('top at a terminal: $name', (which) => {
  let ground: PodGround;
  beforeAll(async () => {
    ground = await startPodGround(which);
    const containers = [aContainer('main', {command: ['sleep', '3600']})];
    const {exitCode, stderr} = await ground.sync(
      aManifest('top-web', {terminationGracePeriodSeconds: 0, hostNetwork: true, containers}),
    );
    expect(exitCode, stderr).toBe(0);
  });
  afterAll(async () => {
    await ground.delete('top-web');
    await ground[Symbol.asyncDispose]();
  });

  /** How often a line is on the screen. */
  const count = (terminal: Terminal, pattern: RegExp): number =>
    terminal.screen.split('\n').filter((line) => pattern.test(line)).length;
  const time = (terminal: Terminal): string | undefined => /^\d{4}-\d\d-\d\dT\S+/m.exec(terminal.screen)?.[0];

  test('it is drawn in place, follows the size of the terminal, and leaves all as it was at Ctrl-C', async () => {
    const terminal = new Terminal(110, 24, {
      KCRI_ROOT_DIR: ground.runtime.rootDir,
      K: KCRI_COMMAND.join(' '),
    });
    onTestFinished(() => {
      terminal[Symbol.dispose]();
    });
    terminal.enter('before=$(stty -g)');
    await terminal.clear();
    terminal.enter('$K top --seconds 1');
    for (const columns of [110, 40, 70]) {
      terminal.resize(columns, 16);
      const seen = time(terminal);
      await until(() => time(terminal) !== undefined && time(terminal) !== seen);
      await terminal.shows(/^default\/top-web +1\/1 +Running/m);
      await until(() => count(terminal, /^POD +READY/) === 1 && count(terminal, /^\d{4}-\d\d-\d\dT/) === 1);
    }
    terminal.press('C-c');
    terminal.enter('echo "code $? $([ "$(stty -g)" = "$before" ] && echo as before)"');
    await terminal.shows(/^(\$ )?code 0 as before$/m);
    expect(count(terminal, /^default\/top-web/)).toBe(1);
  });
});
