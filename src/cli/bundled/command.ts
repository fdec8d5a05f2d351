import type {Command as OclifCommand} from '@oclif/core/command';
import type {Config} from '@oclif/core/interfaces';

/*
 * What our commands use of oclif, which takes oclif's place in the bundle (scripts/bundle): they are declared by its
 * classes and functions, but parsed, run and told of by code of ours. A test holds these against oclif's own.
 */

type Statics = Pick<typeof OclifCommand, 'id' | 'aliases' | 'args' | 'flags' | 'strict' | 'usage'>;

/** oclif's Command without what loads all of oclif. */
export abstract class Command {
  static id: Statics['id'];
  static aliases: Statics['aliases'] = [];
  static args: Statics['args'] = {};
  static flags: Statics['flags'];
  static strict: Statics['strict'] = true;
  static usage: Statics['usage'];

  protected parsed = false;
  readonly argv: string[];
  readonly config: Config;
  readonly id: string | undefined;

  constructor(argv: string[], config: Config) {
    this.argv = argv;
    this.config = config;
    this.id = this.ctor.id;
  }

  protected get ctor(): typeof Command {
    return this.constructor as typeof Command;
  }

  abstract run(): Promise<unknown>;
}
