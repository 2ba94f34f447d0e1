"""What all tests need of the process they run in."""

import signal


def pytest_configure():
    """Programs that tests start and stop by signals must get them: they inherit what `nohup` or `&` of a shell made us
    ignore.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)
