import {FitAddon} from '@xterm/addon-fit';
import {Terminal} from '@xterm/xterm';
import type {TerminalMessage} from '../../features/ui/protocol.js';
import {OutputFlow} from '../model/output-flow.js';
import {replaceCreateElement} from './style-sheets.js';

/** What a terminal needs. */
export interface TerminalOptions {
  /** Opens the connection for a terminal of this size. */
  readonly open: (size: {readonly columns: number; readonly rows: number}) => WebSocket;
  /** Is called with a text for people when the program has ended or the connection is lost. */
  readonly onEnd: (text: string) => void;
  /** Closes the terminal and its connection. */
  readonly signal: AbortSignal;
}

/** Opens a terminal in an element that is connected to a program. */
export function openTerminal(element: HTMLElement, {open, onEnd, signal}: TerminalOptions): void {
  const restoreCreateElement = replaceCreateElement();
  const terminal = new Terminal({
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    fontSize: 13,
    screenReaderMode: true,
    theme: {background: '#10161d', foreground: '#e4e9ee'},
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  fit.fit();
  const socket = open({columns: terminal.cols, rows: terminal.rows});
  socket.binaryType = 'arraybuffer';
  connect(terminal, socket, onEnd);
  const resized = new ResizeObserver(() => fit.fit());
  resized.observe(element);
  terminal.focus();
  signal.addEventListener('abort', () => {
    resized.disconnect();
    socket.close();
    terminal.dispose();
    restoreCreateElement();
  });
}

function connect(terminal: Terminal, socket: WebSocket, onEnd: (text: string) => void): void {
  let hasEnded = false;
  const end = (text: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    terminal.options.disableStdin = true;
    terminal.options.cursorBlink = false;
    onEnd(text);
  };
  const send = (data: string | Uint8Array<ArrayBuffer>): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data);
  };
  const encoder = new TextEncoder();
  terminal.onData((text) => send(encoder.encode(text)));
  terminal.onBinary((text) => send(Uint8Array.from(text, (character) => character.charCodeAt(0))));
  terminal.onResize(({cols: columns, rows}) =>
    send(JSON.stringify({kind: 'resize', columns, rows} satisfies TerminalMessage)),
  );
  const flow = new OutputFlow((isPaused) =>
    send(JSON.stringify({kind: 'flow', isPaused} satisfies TerminalMessage)),
  );
  socket.addEventListener('message', ({data}: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data !== 'string') {
      flow.add(data.byteLength);
      terminal.write(new Uint8Array(data), () => flow.add(-data.byteLength));
    } else {
      const message = JSON.parse(data) as TerminalMessage;
      if (message.kind === 'end') end(endText(message));
    }
  });
  socket.addEventListener('close', () => end('The connection was closed'));
}

function endText({exitCode, error}: Extract<TerminalMessage, {readonly kind: 'end'}>): string {
  return (
    error ?? (exitCode === undefined ? 'The shell has ended' : `The shell ended with exit code ${exitCode}`)
  );
}
