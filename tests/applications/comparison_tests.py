"""The comparison of outputs finds what it has to, and nothing else."""

import unittest

from comparison import agreed_digits, differences, new_messages, skeleton


class Comparison(unittest.TestCase):
    NATIVE = (
        "energy -75.98397447 at step 10\ntime 1.27 s\n",
        "energy -75.98397446 at step 10\ntime 3.9 s\n",
    )

    def test_equal_outputs_do_not_differ(self):
        self.assertEqual(differences((self.NATIVE[0],) * 2, self.NATIVE[0]), [])

    def test_what_native_runs_give_differently_may_differ(self):
        text = "energy -75.98397445  at step 10\ntime 55 s\n"
        self.assertEqual(differences(self.NATIVE, text), [])

    def test_digits_that_native_runs_agree_on_are_compared(self):
        text = "energy -75.98391 at step 10\ntime 1.27 s\n"
        self.assertEqual(len(differences(self.NATIVE, text)), 1)

    def test_a_number_that_native_runs_give_alike_is_compared_exactly(self):
        text = "energy -75.98397447 at step 11\ntime 1.27 s\n"
        self.assertEqual(len(differences(self.NATIVE, text)), 1)

    def test_a_rounded_number_is_held_to_the_digits_asked_for(self):
        natives = ("sum 1.00000000001\n",) * 2
        self.assertEqual(len(differences(natives, "sum 1.00000000002\n")), 1)
        self.assertEqual(differences(natives, "sum 1.00000000002\n", digits=9), [])

    def test_lines_that_are_missing_or_more_are_found(self):
        natives = ("a 1\nb 2\n",) * 2
        self.assertEqual(differences(natives, "a 1\n"), ["missing: b 2"])
        self.assertEqual(differences(natives, "a 1\nb 2\nc 3\n"), ["not natively: c 3"])
        self.assertEqual(differences(natives, "a 1\nb 2\nb 2\n"), ["not natively: b 2"])

    def test_lines_that_only_some_native_runs_have_may_be_there_or_not(self):
        natives = ("a 1\nretry\nb 2\n", "a 1\nb 2\n")
        self.assertEqual(differences(natives, "a 1\nretry\nb 2\n"), [])
        self.assertEqual(differences(natives, "a 1\nb 2\n"), [])

    def test_lines_left_out_are_not_compared(self):
        natives = ("time 1.0\nb 2\n",) * 2
        self.assertEqual(differences(natives, "time 3.0\nb 2\n", apart="^time"), [])
        self.assertEqual(differences(natives, "time 3.0\nb 2\n", only="^b"), [])
        self.assertEqual(len(differences(natives, "time 3.0\nb 2\n")), 1)

    def test_numbers_are_found_in_any_notation(self):
        self.assertEqual(skeleton("x=-1.5E-3 y 2D+05 nan v2 3rd"), "x=# y # # v2 3rd")
        self.assertGreater(agreed_digits("1.5D-03", "1.5e-3"), 20)
        self.assertEqual(agreed_digits("1", "-1"), 0)
        self.assertEqual(agreed_digits("nan", "1"), 0)

    def test_a_message_that_native_runs_do_not_print_is_found(self):
        natives = ("[0] warning: 1 leaked\n", "")
        self.assertEqual(new_messages(natives, "[3] warning: 2 leaked\n"), [])
        self.assertEqual(new_messages(natives, "sibyl: no\n"), ["sibyl: no"])


if __name__ == "__main__":
    unittest.main()
