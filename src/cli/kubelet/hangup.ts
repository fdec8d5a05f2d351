/** Calls `act` for each SIGHUP, until it is disposed; without it that signal would end the process. */
export function onHangup(act: () => void): Disposable {
  process.on('SIGHUP', act);
  return {
    [Symbol.dispose]: () => {
      process.off('SIGHUP', act);
    },
  };
}
