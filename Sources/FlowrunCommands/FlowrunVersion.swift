/// The version of the program, in the one place where it is written.
package let flowrunVersion = "0.1.0"
