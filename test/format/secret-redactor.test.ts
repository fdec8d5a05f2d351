import {expect, test} from 'vitest';
import {secretForms} from '../../src/format/secret-redactor.js';

test.each([
  ['hunter2', ['hunter2']],
  ['hunter2\n', ['hunter2\n', 'hunter2\\n', 'hunter2']],
  [
    ' first line\r\nshort\n',
    [
      ' first line\r\nshort\n',
      ' first line\\r\\nshort\\n',
      'first line\r\nshort',
      'first line\\r\\nshort',
      'first line',
    ],
  ],
  ['a<b>&"c"', ['a<b>&"c"', 'a<b>&\\"c\\"', 'a\\u003cb\\u003e\\u0026\\"c\\"']],
  ['bell\x07', ['bell\x07', 'bell\\u0007', 'bell\\a']],
])('the secret forms of %j are %j', (value, texts) => {
  expect(secretForms(value)).toEqual(texts);
});
