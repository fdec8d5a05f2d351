/**
 * Stops this process and the others of its job, as Ctrl-Z does, and calls `onContinue` after `fg`. Without a shell with
 * job control the process continues at once.
 */
export function suspendProcess(onContinue: () => void): void {
  const handlers = process.listeners('SIGTSTP');
  // Without handlers the signal stops the process.
  process.removeAllListeners('SIGTSTP');
  process.kill(0, 'SIGTSTP');
  setImmediate(() => {
    for (const handler of handlers) process.on('SIGTSTP', handler);
    onContinue();
  });
}
