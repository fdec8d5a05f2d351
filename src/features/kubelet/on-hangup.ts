/** Calls the listener for each SIGHUP until it is disposed. Without a listener, SIGHUP terminates the process. */
export function onHangup(listener: () => void): Disposable {
  process.on('SIGHUP', listener);
  return {
    [Symbol.dispose]: () => {
      process.off('SIGHUP', listener);
    },
  };
}
