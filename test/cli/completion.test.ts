import {execFileSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {SCRIPTS} from '../../src/cli/completion/scripts.js';
import {FakeRuntime, aContainer, aSandbox, anImage} from '../fakes/fake-runtime.js';
import {runKcri} from './run-kcri.js';

const ODD = ['$(reboot)', 'a b', 'a;b', '`id`', '*', 'a\nb', "it's", '', '--all', ':files'];

test('names that a shell would read as more than a word, or kcri as a flag, are not offered', async () => {
  const sandboxes = ['web', ...ODD].map((name) => aSandbox({name}));
  const [web] = sandboxes;
  const containers = ['main', ...ODD].map((name) => aContainer({sandbox: web!, name}));
  await using runtime = await FakeRuntime.start({
    sandboxes,
    containers,
    images: [anImage({name: 'localhost:5000/team/app:1'})],
  });
  const suggested = async (command: string) => {
    const args = ['completion', '--suggest', '--', command, ''];
    const {stdout} = await runKcri(args, {endpoint: runtime.endpoint});
    const words = stdout.trimEnd().split('\n');
    return words
      .map((line) => line.split('\t')[0])
      .filter((word) => !/^(sha256:)?[0-9a-f]{13}$/.test(word ?? ''));
  };
  expect(await suggested('stop')).toEqual(['main']);
  expect(await suggested('stopp')).toEqual(['web']);
  expect(await suggested('rmi')).toEqual(['localhost:5000/team/app:1']);
});

test('bash takes the words as they are', () => {
  const script = `${SCRIPTS.bash}
kcri() { printf '%s\\n' '*' 'a b' '$(echo hi)' $'word\\tmeaning'; }
COMP_WORDS=(kcri ''); COMP_CWORD=1; COMP_LINE='kcri '; COMP_POINT=5
_kcri
printf '<%s>' "\${COMPREPLY[@]}"`;
  const said = execFileSync('bash', ['--norc', '--noprofile', '-uc', script], {encoding: 'utf8'});
  expect(said).toBe('<*><a b><$(echo hi)><word>');
});
