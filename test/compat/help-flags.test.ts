import {stripVTControlCharacters} from 'node:util';
import {expect, test} from 'vitest';
import {helpText} from '../../src/program/help.js';
import {flagsOfKcri, readHelpFlags} from './help-flags.js';

test.each(Object.entries(await readHelpFlags()))(
  'as crictl, the help of "%s" lists exactly the flags of crictl',
  async (command, flags) => {
    const help = await helpText(command.split(' '), 'crictl');
    expect(flagsOfKcri(stripVTControlCharacters(help))).toEqual(flags);
  },
);
