/** The part of terminal-kit that kcri uses; the package has no declarations. */
declare module 'terminal-kit' {
  import type {Readable} from 'node:stream';

  /** Appearance of a cell. Without `defaultColor`, colors are names or numbers of the palette. */
  export interface Attributes {
    readonly color?: string;
    readonly bgColor?: string;
    readonly defaultColor?: boolean;
    readonly bgDefaultColor?: boolean;
    readonly bold?: boolean;
    readonly underline?: boolean;
    readonly inverse?: boolean;
  }

  /** Terminal with its keys. */
  export interface Terminal {
    on(event: 'key', listener: (name: string) => void): unknown;
    /** Switches to the alternate screen and clears it, or back. */
    fullscreen(on: boolean): void;
    hideCursor(hide?: boolean): void;
    styleReset(): void;
    /** Switches to raw mode and emits keys, or back. */
    grabInput(on: boolean): void;
  }

  /** Cells that are drawn on a terminal. */
  export interface ScreenBuffer {
    readonly width: number;
    readonly height: number;
    fill(options: {readonly attr: number; readonly char: string}): void;
    /** Puts text at a position; what does not fit is dropped. */
    put(
      options: {
        readonly x: number;
        readonly y: number;
        readonly attr: number;
        readonly wrap: boolean;
      },
      text: string,
    ): void;
    /** Writes the cells to the terminal; with `delta`, those that have changed since the last time. */
    draw(options: {readonly delta: boolean}): void;
  }

  interface TerminalKit {
    createTerminal(options: {
      readonly stdin: Readable;
      readonly stdout: {write(chunk: string): boolean};
      readonly generic: string;
      readonly isTTY: boolean;
    }): Terminal;
    readonly ScreenBuffer: {
      new (options: {readonly dst: Terminal; readonly width: number; readonly height: number}): ScreenBuffer;
      /** Returns the number that represents an appearance; adds members to the object. */
      object2attr(attributes: Attributes): number;
    };
  }

  const terminalKit: TerminalKit;
  export default terminalKit;
}
