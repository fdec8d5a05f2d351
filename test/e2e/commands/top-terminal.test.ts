import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';

describe.each(newestRuntime)('top on a terminal: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    const containers = [aContainer('main', {command: ['sleep', '3600']})];
    const {exitCode, stderr} = await testbed.sync(
      aManifest('top-web', {terminationGracePeriodSeconds: 0, hostNetwork: true, containers}),
    );
    expect(exitCode, stderr).toBe(0);
  });
  afterAll(async () => {
    await testbed.delete('top-web');
    await testbed[Symbol.asyncDispose]();
  });

  /** Returns how often a line is on the screen. */
  const count = (terminal: TmuxTerminal, pattern: RegExp): number =>
    terminal.screen.split('\n').filter((line) => pattern.test(line)).length;
  const time = (terminal: TmuxTerminal): string | undefined =>
    /^\d{4}-\d\d-\d\dT\S+/m.exec(terminal.screen)?.[0];

  test("is redrawn in place, follows the terminal's size, and restores it after Ctrl-C", async () => {
    const terminal = new TmuxTerminal(110, 24, {
      KCRI_ROOT_DIR: testbed.runtime.rootDir,
      K: KCRI_COMMAND.join(' '),
    });
    onTestFinished(() => {
      terminal[Symbol.dispose]();
    });
    terminal.typeLine('before=$(stty -g)');
    await terminal.clear();
    terminal.typeLine('$K top --seconds 1');
    for (const columns of [110, 40, 70]) {
      terminal.resize(columns, 16);
      const seen = time(terminal);
      await until(() => time(terminal) !== undefined && time(terminal) !== seen);
      await terminal.waitForScreen(/^default\/top-web +1\/1 +Running/m);
      await until(() => count(terminal, /^POD +READY/) === 1 && count(terminal, /^\d{4}-\d\d-\d\dT/) === 1);
    }
    terminal.pressKeys('C-c');
    terminal.typeLine('echo "code $? $([ "$(stty -g)" = "$before" ] && echo as before)"');
    await terminal.waitForScreen(/^(\$ )?code 0 as before$/m);
    expect(count(terminal, /^default\/top-web/)).toBe(1);
  });
});
