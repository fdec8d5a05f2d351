import {AssertionError} from 'node:assert';
import {readFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {interruption} from '../../src/cli/process/interrupt.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {OtlpReceiver} from '../cli/diagnostics/otlp-receiver.js';
import {runKcri, type RunOptions} from '../cli/run-kcri.js';
import {SPECS, startSpecRuntime, type Spec, type SpecTools} from './cri-tools-specs.js';

/** Checks a fact under a name of the program. */
async function check({holds}: Spec, name: 'kcri' | 'crictl'): Promise<void> {
  await using runtime = await startSpecRuntime();
  const directory = await temporaryDirectory();
  const file = async (base: string, text: string): Promise<string> => {
    await writeFile(join(directory, base), text);
    return join(directory, base);
  };
  const configFile = await file('crictl.yaml', '');
  const run = async (line: string, options: RunOptions = {}) =>
    await runKcri([`--runtime-endpoint=${runtime.endpoint}`, ...line.split(' ')], {
      env: {KCRI_COMPAT: name, CRI_CONFIG_FILE: configFile},
      ...options,
    });
  const trace: SpecTools['trace'] = async (line) => {
    await using collector = await OtlpReceiver.start();
    await run(`--enable-tracing --tracing-endpoint=${collector.endpoint} ${line}`);
    return collector.spans;
  };
  const watch: SpecTools['watch'] = async (line, seen) => {
    const controller = new AbortController();
    let shown = '';
    return await run(line, {
      signal: controller.signal,
      onStdout: (text) => {
        shown += text;
        if (seen.test(shown)) controller.abort(interruption('SIGINT', {compat: name === 'crictl'}));
      },
    });
  };
  await holds({runtime, run, trace, watch, configFile, file});
}

test.each(SPECS.map((spec) => [spec.title, spec] as const))(
  'the program named crictl passes cri-tools’ test %s',
  async (_, spec) => {
    await check(spec, 'crictl');
  },
);

describe('under its own name', () => {
  const shared = SPECS.filter(({ownReason}) => ownReason === undefined);
  test.each(shared.map((spec) => [spec.title, spec] as const))(
    'kcri passes cri-tools’ test %s',
    async (_, spec) => {
      await check(spec, 'kcri');
    },
  );

  const other = SPECS.filter(({ownReason}) => ownReason !== undefined);
  test.each(other.map((spec) => [spec.title, spec] as const))(
    'kcri differs from cri-tools’ test %s, as documented',
    async (_, spec) => {
      await expect(check(spec, 'kcri')).rejects.toBeInstanceOf(AssertionError);
    },
  );

  test('docs/crictl.md lists the tests that kcri does not pass, with the reasons', () => {
    const [, section = ''] = readFileSync('docs/crictl.md', 'utf8').split("## cri-tools' own tests");
    const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (.+) \| (.+) \|$/gm)].slice(1);
    expect(rows.map(([, title, reason]) => [title, reason])).toEqual(
      other.map(({title, ownReason}) => [title, ownReason]),
    );
  });
});
