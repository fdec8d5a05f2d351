import * as OclifArgs from '@oclif/core/args';
import {Command as OclifCommand} from '@oclif/core/command';
import {Config} from '@oclif/core/config';
import * as OclifFlags from '@oclif/core/flags';
import {describe, expect, test} from 'vitest';
import * as Args from '../../src/program/bundled/args.js';
import {Command} from '../../src/program/bundled/command.js';
import * as Flags from '../../src/program/bundled/flags.js';

/** Returns a definition as data, with the result of its parser in place of the parser. */
async function asData(definition: object): Promise<object> {
  const {parse} = definition as {parse: (value: unknown) => Promise<unknown>};
  return {...definition, parse: await parse('text')};
}

const OPTIONS: readonly Readonly<Record<string, unknown>>[] = [
  {},
  {char: 'o', description: 'said', multiple: true, delimiter: ','},
  {multiple: false, required: true, default: 'x', parse: async () => 'parsed'},
];

describe("the replacement of oclif's definitions is equal:", () => {
  test.each(OPTIONS)('Flags.string(%j)', async (options) => {
    expect(await asData(Flags.string(options))).toEqual(await asData(OclifFlags.string(options)));
  });

  test.each(OPTIONS)('Flags.custom with its own defaults, with %j', async (options) => {
    const defaults: Readonly<Record<string, unknown>> = {
      multiple: true,
      parse: async (text: string) => `<${text}>`,
    };
    const expected = OclifFlags.custom(defaults)(options);
    expect(await asData(Flags.custom(defaults)(options))).toEqual(await asData(expected));
  });

  test.each([{}, {char: 'a', default: true, allowNo: true}] as const)(
    'Flags.boolean(%j)',
    async (options) => {
      expect(await asData(Flags.boolean(options))).toEqual(await asData(OclifFlags.boolean(options)));
    },
  );

  test.each(OPTIONS)('Args.string(%j)', async (options) => {
    expect(await asData(Args.string(options))).toEqual(await asData(OclifArgs.string(options)));
  });
});

describe("the replacement of oclif's Command", () => {
  class Replacement extends Command {
    static override id = 'runtime:up';
    async run(): Promise<unknown> {
      return [this.argv, this.config, this.id, this.ctor === Replacement, this.parsed];
    }
  }
  class Original extends OclifCommand {
    static override id = 'runtime:up';
    async run(): Promise<unknown> {
      return [this.argv, this.config, this.id, this.ctor === Original, this.parsed];
    }
  }

  test('is constructed and identified equally', async () => {
    const config = new Config({root: '.'});
    const [replacement, original] = [new Replacement(['-a'], config), new Original(['-a'], config)];
    expect(await replacement.run()).toEqual(await original.run());
  });

  test('has the same defaults', () => {
    for (const name of ['id', 'aliases', 'args', 'flags', 'strict', 'usage'] as const)
      expect(Command[name], name).toEqual(OclifCommand[name]);
  });
});
