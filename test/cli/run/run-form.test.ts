import {describe, expect, test} from 'vitest';
import {chooseRunForm, splitRunLine} from '../../../src/cli/run/run-form.js';

describe('the form of a run command', () => {
  const form = (line: string): unknown => {
    const argv = line.split(' ').filter((word) => word !== '');
    const end = argv.indexOf('--');
    const positionals = argv.filter((_, index) => index !== end);
    return chooseRunForm(splitRunLine(argv, positionals), (path) => path.startsWith('/'));
  };

  test.each([
    ['a.json b.yaml', {kind: 'files', container: 'a.json', pod: 'b.yaml'}],
    ['- /pod', {kind: 'files', container: '-', pod: '/pod'}],
    ['busybox', {kind: 'image', image: 'busybox', words: []}],
    ['busybox -- a.json b.json', {kind: 'image', image: 'busybox', words: ['a.json', 'b.json']}],
    ['busybox -- sh -- x', {kind: 'image', image: 'busybox', words: ['sh', '--', 'x']}],
  ])('%s', (line, expected) => {
    expect(form(line)).toEqual(expected);
  });

  test.each([
    ['', 'no image or config files specified'],
    ['-- sh', 'no image or config files specified'],
    ['pod.yaml', '"pod.yaml" is a file: run takes an image, or a container config and a pod config'],
    ['busybox sh', 'unexpected argument "sh" after the image "busybox"'],
    ['busybox sh -- -c', 'unexpected argument "sh" after the image "busybox"'],
    ['a.json pod', '"pod" is not a config file'],
    ['a.json b.json c.json', 'unexpected argument "c.json"'],
  ])('%j is rejected', (line, message) => {
    expect(() => form(line)).toThrow(message);
  });
});
