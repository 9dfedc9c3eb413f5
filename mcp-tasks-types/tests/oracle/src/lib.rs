//! Nothing of its own: the tests are all there is.
